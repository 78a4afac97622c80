#include "gui/models/trust.h"

#include <utility>

#include <fmt/format.h>

#include "gui/models/document_settings.h"
#include "sim/case/cost_basis.h"
#include "sim/case/plausibility.h"
#include "sim/trust/cost_warnings.h"
#include "sim/trust/expected_error.h"

namespace strata::gui {
namespace {

// What holds of the case under every strategy.
void add_case(const CaseRequest& request, const Case& input, Trust& trust) {
  for (const std::string& warning : cost_warnings(input)) {
    trust.warnings.push_back(in_window_words(warning));
  }
  const std::optional<ExpectedError> expected = expected_error(request, input);
  trust.facts.push_back(expected_error_text(expected));
  if (!expected) return;
  trust.brief +=
      fmt::format("{}error {:.1f} %", trust.brief.empty() ? "" : ", ", 100 * expected->mean);
}

void add_plausibility(const Case& input, const Strategy& strategy, Seconds step, Trust& trust) {
  const std::optional<Plausibility> found = plausibility(input, strategy, step);
  if (!found || found->reason.empty()) return;
  (found->plausible ? trust.facts : trust.warnings).push_back(found->reason);
}

}  // namespace

Trust trust_of(const CaseRequest& request, const Case& input, const Prediction& prediction) {
  Trust trust;
  if (const auto found = shortage(input, prediction.peak_memory)) {
    trust.warnings.push_back(shortage_text(input, *found));
  }
  add_plausibility(input, prediction.strategy, prediction.step_seconds(), trust);
  const double sum = prediction.sources.total().value;
  if (sum > 0) {
    trust.brief = fmt::format("{:.0f} % measured", 100 * prediction.sources.measured.value / sum);
  }
  for (std::string line :
       {rests_on_text(prediction.sources), not_measured_text(input, prediction)}) {
    if (!line.empty()) trust.facts.push_back(std::move(line));
  }
  add_case(request, input, trust);
  return trust;
}

Trust trust_of(const CaseRequest& request, const Case& input, const Scored& scored) {
  Trust trust;
  if (!scored.fits) trust.warnings.emplace_back("a device needs more memory than it has");
  if (scored.simulated()) add_plausibility(input, scored.strategy, scored.step, trust);
  add_case(request, input, trust);
  return trust;
}

std::string text_of(const Trust& trust) {
  std::string text;
  for (const std::vector<std::string>* lines : {&trust.warnings, &trust.facts}) {
    for (const std::string& line : *lines) text += (text.empty() ? "" : "\n\n") + line;
  }
  return text;
}

}  // namespace strata::gui
