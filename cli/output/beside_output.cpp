#include "cli/output/beside_output.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "cli/output/table.h"
#include "sim/text/units.h"

namespace strata {
namespace {

constexpr std::size_t kListedPasses = 24;

// Predicted minus measured, of the measured.
double relative_error(const ComparedPass& pass) {
  return (pass.predicted - pass.traced) / pass.traced;
}

std::string passes_text(const Case& input, const TraceComparison& compared) {
  std::vector<ComparedPass> passes = compared.passes;
  std::ranges::stable_sort(passes, std::greater{}, &ComparedPass::traced);
  passes.resize(std::min(passes.size(), kListedPasses));
  TextTable table;
  for (const ComparedPass& pass : passes) {
    const bool known = pass.predicted > Seconds{} && pass.traced > Seconds{};
    const bool same = known && compared.steps > 0;  // a step beside a step
    table.add({{"device", traced_device(input, pass.what.device), TextTable::left},
               {"layer", input.graph[pass.what.layer].name, TextTable::left},
               {"pass", std::string(name(pass.what.pass)), TextTable::left},
               {"kernels", std::to_string(pass.kernels)},
               {"measured", format_seconds(pass.traced)},
               {"predicted", known ? format_seconds(pass.predicted) : "-"},
               {"error", same ? fmt::format("{:+.0f}%", 100 * relative_error(pass)) : "-"}});
  }
  return table.print();
}

std::string step_text(const Prediction& prediction, const TraceComparison& compared) {
  const std::string predicted = format_seconds(prediction.step_seconds());
  const std::string busy = format_seconds(compared.busy);
  if (compared.steps == 0) {
    return fmt::format(
        "The trace names no steps (ProfilerStep#N): its kernels are added up over all of it, in "
        "which the busiest\nGPU is busy for {}. A step is predicted to take {}.\n",
        busy, predicted);
  }
  return fmt::format(
      "The trace's median step of {} takes {}, predicted {}; the busiest GPU is busy for {} of "
      "it.\n",
      compared.steps, format_seconds(compared.traced_step), predicted, busy);
}

}  // namespace

std::string beside_text(const Case& input, const Prediction& prediction,
                        const TraceComparison& compared) {
  std::string text = step_text(prediction, compared);
  text += fmt::format("Of the kernels' time {:.1f}% is known to be of layers or their update.\n",
                      100 * compared.known_share);
  if (compared.passes.empty()) return text;
  return text + fmt::format("\nWhat takes the longest (--json has all):\n\n{}",
                            passes_text(input, compared));
}

}  // namespace strata
