#include "gui/models/scene.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "gui/models/jobs.h"
#include "gui/models/search_text.h"
#include "sim/base/cancel.h"
#include "sim/search/asked_strategy.h"
#include "sim/search/solve.h"
#include "sim/text/units.h"

namespace strata::gui {
namespace {

SolveLimits limits_of(Progress* progress) {
  SolveLimits limits;
  if (progress == nullptr) return limits;
  limits.cancelled = progress->cancelled();
  limits.progress = [=](const SolveProgress& at) {
    progress->report(at.done, progress_text(at).toStdString());
  };
  return limits;
}

// As a search with the document's settings finds it, or as it is chosen.
Strategy strategy_of(const Document& document, const Case& input, const SolveLimits& limits) {
  const StrategyChoice& choice = document.strategy;
  if (choice.edited()) return resolve(Strategy(choice.label(), choice.configs), input);
  const std::optional<Objective> objective = searched_objective(choice.source);
  if (!objective) return load_strategy(choice.source, input);
  SearchSettings search = document.search;
  search.algorithm = SearchAlgorithm::elimination;
  search.no_simulation = false;
  search.k_best = 1;
  SolveOptions options = solve_options(search, *objective);
  options.limits.cancelled = limits.cancelled;
  options.limits.progress = limits.progress;
  return best_strategy(input, options);
}

// Costs of a roofline do not scatter, and neither do those of a profile without spreads.
void add_jitter(Scene& scene) {
  if (!scene.jittered) return;
  const auto spreads = [](const Cost& cost) { return cost.spread > 0; };
  if (std::ranges::none_of(scene.prediction.costs, spreads)) {
    scene.trust.warnings.emplace_back("jitter: no cost has a measured spread");
  }
  scene.trust.facts.push_back(
      fmt::format("With every task's time drawn from its spread, half of the steps take at most "
                  "{}, 95 % at most {}",
                  format_seconds(scene.jittered->p50), format_seconds(scene.jittered->p95)));
}

}  // namespace

ScenePtr make_scene(const Document& document, CaseLoader& loader, Progress* progress) {
  auto scene = std::make_shared<Scene>();
  scene->document = document;
  scene->input = loader.load(document.input);
  const Case& input = scene->input;
  PredictOptions options;
  options.steps = static_cast<std::size_t>(document.simulation.steps);
  options.record_link_rates = true;
  options.critical_path = false;  // found below
  if (input.cluster.device_count() > kMostInPlan) {
    options.devices = Simulated::one_of_each_class;
    // Of a plan of few rounds only that tells of all.
    options.critical_path = options.breakdown = input.cut.has_value();
  }
  if (progress != nullptr) options.cancelled = progress->cancelled();
  scene->prediction = predict(input, strategy_of(document, input, limits_of(progress)), options);
  if (progress != nullptr) throw_if_cancelled(progress->cancelled());
  Prediction& prediction = scene->prediction;
  scene->stages = StageNames(input.graph, prediction.strategy);
  scene->path = critical_path(prediction.plan, prediction.timeline);
  if (!options.critical_path) {
    prediction.path = path_shares(prediction.plan, prediction.timeline, scene->path);
  }
  scene->use = utilisation(prediction.plan, prediction.timeline, input.cluster,
                           prediction.step_seconds(), prediction.repeated);
  scene->flops = flops_utilisation(input, prediction.strategy, prediction.step_seconds());
  if (scene->flops)
    scene->plausible = plausibility(input, *scene->flops, prediction.step_seconds());
  scene->uncosted = uncosted(input.graph);
  if (const auto seed = document.simulation.jitter) {
    scene->jittered = predict_jitter(input, prediction, {*seed});
  }
  scene->trust = trust_of(document.input, input, prediction);
  add_jitter(*scene);
  return scene;
}

std::string shortage_text(const Scene& scene) {
  const std::optional<Shortage> found = shortage(scene.input, scene.prediction.peak_memory);
  if (!found) return {};
  return fmt::format("does not fit: {} of {}", format_bytes(found->needed),
                     format_bytes(found->capacity));
}

Seconds predicted_step(const Document& document, CaseLoader& loader,
                       const std::atomic<bool>* cancelled) {
  const Case input = loader.load(document.input);
  PredictOptions options;
  options.steps = static_cast<std::size_t>(document.simulation.steps);
  options.devices = Simulated::one_of_each_class;
  options.all_steps = options.critical_path = options.memory = options.eq1 = false;
  SolveLimits limits;
  limits.cancelled = cancelled;
  return predict(input, strategy_of(document, input, limits), options).step_seconds();
}

}  // namespace strata::gui
