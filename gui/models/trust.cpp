#include "gui/models/trust.h"

#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "gui/document/document_settings.h"
#include "sim/case/cost_basis.h"
#include "sim/case/plausibility.h"
#include "sim/trust/cost_warnings.h"
#include "sim/trust/expected_error.h"
#include "sim/trust/step_interval.h"

namespace strata::gui {
namespace {

void add_expected(const std::optional<ExpectedError>& expected, std::string interval,
                  Trust& trust) {
  trust.facts.push_back(std::move(interval));
  if (!expected) return;
  trust.brief +=
      fmt::format("{}error {:.1f} %", trust.brief.empty() ? "" : ", ", 100 * expected->mean);
}

}  // namespace

Trust trust_of(const Answer& answer) {
  const Prediction& prediction = std::get<std::vector<Predicted>>(answer.found).front().prediction;
  const Case& input = *answer.input;
  Trust trust;
  const std::string name = prediction.strategy.name() + ": ";
  for (const bool of_strategy : {true, false}) {  // which come first
    for (const std::string& warning : answer.warnings) {
      if (warning.starts_with(name) != of_strategy) continue;
      // The window shows one strategy: its name need not stand before each sentence.
      trust.warnings.push_back(in_window_words(warning.substr(of_strategy ? name.size() : 0)));
    }
  }
  const double sum = prediction.sources.total().value;
  if (sum > 0) {
    trust.brief = fmt::format("{:.0f} % measured", 100 * prediction.sources.measured.value / sum);
  }
  const auto plausible = plausibility(input, prediction.strategy, prediction.step_seconds());
  for (std::string line :
       {plausible && plausible->plausible ? plausible->reason : std::string(),
        rests_on_text(prediction.sources), not_measured_text(input, prediction)}) {
    if (!line.empty()) trust.facts.push_back(std::move(line));
  }
  add_expected(
      answer.expected_error,
      interval_text(answer.interval.value(), prediction.strategy.name(), prediction.step_seconds()),
      trust);
  return trust;
}

Trust trust_of(const CaseRequest& request, const Case& input, const Scored& scored) {
  Trust trust;
  if (!scored.fits) trust.warnings.emplace_back("a device needs more memory than it has");
  const std::optional<Plausibility> plausible =
      scored.simulated() ? plausibility(input, scored.strategy, scored.step) : std::nullopt;
  if (plausible && !plausible->reason.empty()) {
    (plausible->plausible ? trust.facts : trust.warnings).push_back(plausible->reason);
  }
  for (const std::string& warning : cost_warnings(input)) {
    trust.warnings.push_back(in_window_words(warning));
  }
  add_expected(expected_error(request, input),
               interval_text(step_interval(request, input), scored.strategy.name(), scored.step),
               trust);
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
