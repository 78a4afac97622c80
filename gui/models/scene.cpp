#include "gui/models/scene.h"

#include <memory>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "gui/models/jobs.h"
#include "gui/models/search_text.h"
#include "sim/ask/ask.h"
#include "sim/base/cancel.h"
#include "sim/text/units.h"

namespace strata::gui {
namespace {

AskOptions options_of(CaseLoader& loader, Progress* progress) {
  AskOptions options;
  options.loader = &loader;
  options.warnings = Warnings::of_prediction;
  if (progress == nullptr) return options;
  options.cancelled = progress->cancelled();
  options.searching = [=](const SolveProgress& at) {
    progress->report(at.done, found_so_far(at).toStdString());
  };
  return options;
}

void add_jitter(Scene& scene) {
  if (!scene.jittered) return;
  scene.trust.facts.push_back(
      fmt::format("With every task's time drawn from its spread, half of the steps take at most "
                  "{}, 95 % at most {}",
                  format_seconds(scene.jittered->p50), format_seconds(scene.jittered->p95)));
}

}  // namespace

ScenePtr make_scene(const Document& document, CaseLoader& loader, Progress* progress) {
  PredictRequest request = predict_request(document);
  request.detail = Detail::timelines;
  request.link_rates = true;
  request.however_large = true;
  AskOptions options = options_of(loader, progress);
  options.input = std::make_shared<const Case>(loader.load(document.input));
  const bool large = options.input->cluster.device_count() > kMostInPlan;
  request.devices = large ? Simulated::one_of_each_class : Simulated::all_devices;
  Answer answer = ask(request, options);
  if (progress != nullptr) throw_if_cancelled(progress->cancelled());
  auto scene = std::make_shared<Scene>();
  scene->document = document;
  scene->input = *answer.input;
  const Case& input = scene->input;
  scene->trust = trust_of(answer);
  Predicted& found = std::get<std::vector<Predicted>>(answer.found).front();
  scene->prediction = std::move(found.prediction);
  scene->jittered = found.jitter;
  const Prediction& prediction = scene->prediction;
  scene->stages = StageNames(input.graph, prediction.strategy);
  scene->path = prediction.path_steps;
  scene->use = utilisation(prediction.plan, prediction.timeline, input.cluster,
                           prediction.step_seconds(), prediction.repeated);
  scene->flops = flops_utilisation(input, prediction.strategy, prediction.step_seconds());
  if (scene->flops)
    scene->plausible = plausibility(input, *scene->flops, prediction.step_seconds());
  scene->uncosted = uncosted(input.graph);
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
  PredictRequest request = predict_request(document);
  request.detail = Detail::step;
  request.jitter.reset();
  AskOptions options;
  options.loader = &loader;
  options.cancelled = cancelled;
  const Answer answer = ask(request, options);
  return std::get<std::vector<Predicted>>(answer.found).front().prediction.step_seconds();
}

}  // namespace strata::gui
