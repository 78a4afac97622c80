#include "gui/models/compare/differences.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gui/models/compare/contributions.h"
#include "gui/models/text.h"

namespace strata::gui {
namespace {

std::vector<Seconds> by_layer(const Scene& scene) {
  std::vector<Seconds> sums(scene.input.graph.size());
  for (const PathPart& part : path_contributions(scene)) {
    if (part.layer.valid()) sums[part.layer()] += part.seconds;
  }
  return sums;
}

std::optional<LayerId> find(const Scene& scene, const std::string& layer) {
  const LayerId id = scene.input.graph.find(layer);
  return id.valid() ? std::optional(id) : std::nullopt;
}

void fill_before(const Scene& scene, const std::vector<Seconds>& steps, LayerDifference& line) {
  if (!line.before) return;
  line.cut_before = human_config(scene.prediction.strategy[*line.before]).toStdString();
  line.eq1_before = scene.prediction.terms[(*line.before)()];
  line.step_before = steps[(*line.before)()];
}

void fill_after(const Scene& scene, const std::vector<Seconds>& steps, LayerDifference& line) {
  if (!line.after) return;
  line.cut_after = human_config(scene.prediction.strategy[*line.after]).toStdString();
  line.eq1_after = scene.prediction.terms[(*line.after)()];
  line.step_after = steps[(*line.after)()];
}

bool is_recut(const Scene& before, const Scene& after, const LayerDifference& line) {
  if (!line.before || !line.after) return true;
  return before.prediction.strategy[*line.before] != after.prediction.strategy[*line.after];
}

std::size_t namesakes(const Scene& before, const Scene& after) {
  const auto layers = after.input.graph.layers();
  return static_cast<std::size_t>(std::count_if(
      layers.begin(), layers.end(), [&](const Layer& layer) { return find(before, layer.name); }));
}

}  // namespace

// A picosecond is rounding.
bool LayerDifference::changed() const {
  const auto differs = [](Seconds a, Seconds b) { return std::abs((a - b).value) > 1e-12; };
  return recut || differs(eq1_before.compute, eq1_after.compute) ||
         differs(eq1_before.transfer, eq1_after.transfer) ||
         differs(eq1_before.sync, eq1_after.sync) || differs(step_before, step_after);
}

std::vector<LayerDifference> layer_differences(const Scene& before, const Scene& after) {
  const std::vector<Seconds> steps_before = by_layer(before), steps_after = by_layer(after);
  std::vector<LayerDifference> lines;
  const auto add = [&](const std::string& layer) {
    LayerDifference& line = lines.emplace_back();
    line.layer = layer;
    line.before = find(before, layer);
    line.after = find(after, layer);
    fill_before(before, steps_before, line);
    fill_after(after, steps_after, line);
    line.recut = is_recut(before, after, line);
  };
  for (const Layer& layer : after.input.graph.layers()) {
    if (!is_input(layer.op)) add(layer.name);
  }
  for (const Layer& layer : before.input.graph.layers()) {
    if (!is_input(layer.op) && !find(after, layer.name)) add(layer.name);
  }
  return lines;
}

std::vector<LayerDifference> changed_layers(const Scene& before, const Scene& after) {
  std::vector<LayerDifference> lines = layer_differences(before, after);
  std::erase_if(lines, [](const LayerDifference& line) { return !line.changed(); });
  return lines;
}

std::vector<LayerId> same_layers(const Scene& from, const std::vector<LayerId>& layers,
                                 const Scene& to) {
  std::vector<LayerId> same;
  for (const LayerId layer : layers) {
    if (layer() >= from.input.graph.size()) continue;
    if (const auto found = find(to, from.input.graph[layer].name)) same.push_back(*found);
  }
  std::sort(same.begin(), same.end());
  return same;
}

std::string other_case(const Scene& before, const Scene& after) {
  std::vector<std::string> others;
  const CaseRequest &a = before.document.input, &b = after.document.input;
  if (a.model != b.model) {
    others.push_back(fmt::format("another network ({}; {} of {} layers have a namesake there)",
                                 a.model, namesakes(before, after), after.input.graph.size()));
  }
  if (a.cluster != b.cluster) others.push_back(fmt::format("another cluster ({})", a.cluster));
  if (a.model == b.model && a.cluster == b.cluster &&
      case_arguments(before.document) != case_arguments(after.document)) {
    others.emplace_back("other what-ifs or options");
  }
  return others.empty() ? std::string()
                        : "The baseline is of " + fmt::format("{}", fmt::join(others, " and of "));
}

Document with_cuts_of(const Scene& from, const Scene& to, const std::vector<std::string>& layers) {
  Document next = to.document;
  const auto now = to.prediction.strategy.configs();
  next.strategy.configs.assign(now.begin(), now.end());
  next.strategy.touched = !next.strategy.found.empty();
  for (const std::string& layer : layers) {
    const auto source = find(from, layer), target = find(to, layer);
    if (source && target) next.strategy.configs[(*target)()] = from.prediction.strategy[*source];
  }
  return next;
}

}  // namespace strata::gui
