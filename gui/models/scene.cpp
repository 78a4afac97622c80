#include "gui/models/scene.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

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

Strategy strategy_of(const StrategyChoice& choice, const Case& input, SolveLimits limits) {
  if (choice.edited()) return resolve(Strategy(choice.label(), choice.configs), input);
  const std::optional<Objective> objective = searched_objective(choice.source);
  if (!objective) return load_strategy(choice.source, input);
  SolveOptions options;
  options.objective = *objective;
  options.limits = std::move(limits);
  return best_strategy(input, options);
}

}  // namespace

ScenePtr make_scene(const Document& document, CaseLoader& loader, Progress* progress) {
  auto scene = std::make_shared<Scene>();
  scene->document = document;
  scene->input = loader.load(document.input);
  const Case& input = scene->input;
  PredictOptions options;
  options.record_link_rates = true;
  options.critical_path = false;  // found below
  if (input.cluster.device_count() > kMostInPlan) {
    options.devices = Simulated::one_of_each_class;
    // Of a plan of few rounds only that tells of all.
    options.critical_path = options.breakdown = input.cut.has_value();
  }
  if (progress != nullptr) options.cancelled = progress->cancelled();
  scene->prediction =
      predict(input, strategy_of(document.strategy, input, limits_of(progress)), options);
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
  return scene;
}

std::string shortage_text(const Scene& scene) {
  const std::optional<Shortage> found = shortage(scene.input, scene.prediction.peak_memory);
  if (!found) return {};
  return fmt::format("does not fit: {} of {}", format_bytes(found->needed),
                     format_bytes(found->capacity));
}

std::vector<std::string> doubts_of(const Scene& scene) {
  std::vector<std::string> doubts;
  if (scene.plausible && !scene.plausible->plausible) doubts.push_back(scene.plausible->reason);
  const Uncosted& lost = scene.uncosted;
  if (lost.layers == 0) return doubts;
  doubts.push_back(fmt::format(
      "how much {} computes is not known: {} of {} layers cost the bytes that they move alone",
      fmt::join(lost.ops, ", "), lost.layers, scene.input.graph.size()));
  return doubts;
}

Seconds predicted_step(const Document& document, CaseLoader& loader,
                       const std::atomic<bool>* cancelled) {
  const Case input = loader.load(document.input);
  PredictOptions options;
  options.devices = Simulated::one_of_each_class;
  options.all_steps = options.critical_path = options.memory = options.eq1 = false;
  SolveLimits limits;
  limits.cancelled = cancelled;
  return predict(input, strategy_of(document.strategy, input, limits), options).step_seconds();
}

}  // namespace strata::gui
