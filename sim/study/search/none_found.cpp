#include "sim/study/search/none_found.h"

#include <fmt/format.h>

#include "sim/text/units.h"

namespace strata {

std::string none_found(const Case& input, const Solved& solved, Bytes bytes) {
  const std::string who = fmt::format("{} on {}", input.graph.name(), input.cluster.name());
  const std::string within =
      fmt::format("within `memory_limit` {} ({})", bytes.value, format_bytes(bytes));
  if (solved.stopped) {
    return fmt::format("{}: stopped before a strategy {} was found", who, within);
  }
  const std::string least = format_bytes(solved.least_memory);
  if (solved.least_memory > bytes) {
    return fmt::format("{}: no strategy {}, proved: each needs at least {} a device", who, within,
                       least);
  }
  return fmt::format(
      "{}: no strategy {} was found: the smallest of those tried needs {} a device, and none less "
      "than {}",
      who, within, format_bytes(solved.smallest_peak), least);
}

}  // namespace strata
