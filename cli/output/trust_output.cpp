#include "cli/output/trust_output.h"

#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/case/cost_basis.h"

namespace strata {

std::string not_measured_text(const Case& input, const Prediction& prediction) {
  constexpr std::size_t kListed = 4;
  constexpr double kLeast = 0.01;
  std::vector<std::string> parts;
  double others = 0;
  for (const CostBasis& basis : cost_basis(input, prediction)) {
    if (basis.source < CostSource::related) continue;
    if (parts.size() == kListed || basis.share < kLeast) {
      others += basis.share;
      continue;
    }
    parts.push_back(fmt::format("{:.0f}% {} {} ({})", 100 * basis.share, basis.op,
                                name(basis.phase), name(basis.source)));
  }
  if (parts.empty()) return "";
  if (others >= kLeast) parts.push_back(fmt::format("{:.0f}% others", 100 * others));
  std::set<std::string> kinds;
  for (const Device& device : input.cluster.devices()) kinds.insert(device.kind);
  return fmt::format("Not measured on {} in {}: {}\n", fmt::join(kinds, ", "),
                     name(input.dtypes.values), fmt::join(parts, ", "));
}

std::string expected_error_text(const std::optional<ExpectedError>& error) {
  if (!error) {
    return "Expected error: unknown: no published step has this device, family and size of "
           "network, type, framework and number of hosts, without what-ifs\n";
  }
  return fmt::format(
      "Expected error: {:.1f}% on average, at most {:.1f}% for 95 of 100 steps, as measured on "
      "published steps like this one ({}: {} of them{})\n",
      100 * error->mean, 100 * error->p95, error->figures, error->rows,
      error->fitted ? ", which its profile is fitted to" : "");
}

}  // namespace strata
