#include "gui/models/scoreboard.h"

#include <algorithm>
#include <utility>

#include "sim/graph/zoo.h"

namespace strata::gui {
namespace {

// A slider that is dragged makes a case of every value: the oldest ones go.
constexpr std::size_t kMostCases = 500;

std::vector<Config> configs_of(const Strategy& strategy) {
  return {strategy.configs().begin(), strategy.configs().end()};
}

TriedStrategy tried_strategy(const StrategyChoice& choice, const Strategy& strategy,
                             CaseResult result) {
  result.strategy = choice.label();
  return {choice, configs_of(strategy), std::move(result)};
}

bool reads_files(const CaseRequest& input) {
  return !in_zoo(input.model) || input.cluster.ends_with(".toml") || !input.profiles.empty();
}

void put(TriedStrategy strategy, std::vector<TriedStrategy>& among) {
  int number = 1;
  for (TriedStrategy& other : among) {
    if (other.is_same(strategy)) {
      strategy.number = other.number;
      other = std::move(strategy);
      return;
    }
    if (other.choice.label() == strategy.choice.label()) {
      number = std::max(number, other.number + 1);
    }
  }
  strategy.number = number;
  among.push_back(std::move(strategy));
}

}  // namespace

QString TriedStrategy::name() const {
  const QString label = QString::fromStdString(choice.label());
  return number == 1 ? label : QStringLiteral("%1 %2").arg(label).arg(number);
}

bool TriedStrategy::is_same(const TriedStrategy& other) const {
  return choice.label() == other.choice.label() && configs == other.configs;
}

TriedCase tried(const Scene& scene) {
  CaseResult result = result_of(scene.input, scene.prediction);
  result.fits = !shortage(scene.input, scene.prediction.peak_memory);
  const Document& document = scene.document;
  return {document.input,
          {},
          {tried_strategy(document.strategy, scene.prediction.strategy, std::move(result))}};
}

TriedCase tried(const CaseRequest& request, const Case& input, const Solved& solved,
                const StrategyChoice& best, bool kept_layers) {
  TriedCase tried{request};
  const bool of_all = solved.objective == Objective::simulated && !kept_layers && !solved.outside;
  if (of_all) tried.lower_bound = solved.lower_bound;
  const auto add = [&](const StrategyChoice& choice, const Scored& scored) {
    if (!scored.simulated()) return;
    tried.strategies.push_back(tried_strategy(choice, scored.strategy, result_of(input, scored)));
  };
  if (!solved.best.empty()) add(best, solved.best.front());  // of equal ones the first
  for (const Scored& usual : solved.baselines) add({usual.strategy.name()}, usual);
  return tried;
}

void Scoreboard::add(const TriedCase& tried) {
  TriedCase& known = of(tried.input);
  known.lower_bound = std::max(known.lower_bound, tried.lower_bound);
  for (const TriedStrategy& strategy : tried.strategies) put(strategy, known.strategies);
  emit changed();
}

void Scoreboard::remove(const CaseRequest& input, const std::vector<TriedStrategy>& strategies) {
  for (const TriedStrategy& gone : strategies) {
    std::erase_if(of(input).strategies,
                  [&](const TriedStrategy& strategy) { return strategy.is_same(gone); });
  }
  emit changed();
}

void Scoreboard::forget_files() {
  std::erase_if(cases_, [](const TriedCase& one) { return reads_files(one.input); });
  emit changed();
}

const TriedCase* Scoreboard::find(const CaseRequest& input) const {
  const auto found = std::ranges::find(cases_, input, &TriedCase::input);
  return found == cases_.end() ? nullptr : &*found;
}

Seconds Scoreboard::lower_bound(const CaseRequest& input) const {
  const TriedCase* const tried = find(input);
  return tried == nullptr ? Seconds{} : tried->lower_bound;
}

TriedCase& Scoreboard::of(const CaseRequest& input) {
  const auto found = std::ranges::find(cases_, input, &TriedCase::input);
  if (found != cases_.end()) return *found;
  if (cases_.size() == kMostCases) cases_.erase(cases_.begin());
  return cases_.emplace_back(TriedCase{input});
}

}  // namespace strata::gui
