#include "gui/models/compare/differences.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "gui/models/text.h"

namespace strata::gui {
namespace {

std::vector<Seconds> by_layer(const Scene& scene) {
  std::vector<Seconds> sums(scene.input.graph.size());
  for (const Contribution& part : path_contributions(scene)) {
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

// What a bar stands for: a layer's name, or a kind of work.
std::string bar_key(const Contribution& part, const Scene& scene, WaterfallBy by) {
  switch (by) {
    case WaterfallBy::work:
      return std::string(name(part.kind));
    case WaterfallBy::eq1_term:
      return part.kind == WorkKind::forward ? "compute" : std::string(name(part.kind));
    default:
      return part.layer.valid() ? scene.input.graph[part.layer].name : "waiting";
  }
}

using Sums = std::map<std::string, Seconds>;

Sums sums_of(const Scene& scene, WaterfallBy by) {
  const bool eq1 = by == WaterfallBy::eq1_layer || by == WaterfallBy::eq1_term;
  Sums sums;
  for (const Contribution& part : eq1 ? eq1_contributions(scene) : path_contributions(scene)) {
    sums[bar_key(part, scene, by)] += part.seconds;
  }
  return sums;
}

Seconds whole(const Scene& scene, WaterfallBy by) {
  const bool eq1 = by == WaterfallBy::eq1_layer || by == WaterfallBy::eq1_term;
  return eq1 ? scene.prediction.eq1_seconds() : scene.prediction.step_seconds();
}

struct Change {
  std::string what;
  Seconds seconds;
};

// Without what is rounding alone: the last bar takes that.
std::vector<Change> changes(const Scene& before, const Scene& after, WaterfallBy by) {
  const Seconds rounding = whole(after, by) * 1e-10;
  Sums difference = sums_of(after, by);
  for (const auto& [what, seconds] : sums_of(before, by)) difference[what] -= seconds;
  std::vector<Change> all;
  for (const auto& [what, seconds] : difference) {
    if (std::abs(seconds.value) > rounding.value) all.push_back({what, seconds});
  }
  std::stable_sort(all.begin(), all.end(), [](const Change& a, const Change& b) {
    return std::abs(a.seconds.value) > std::abs(b.seconds.value);
  });
  return all;
}

// What is too much for one picture, as one.
void gather_small(std::vector<Change>& all, std::size_t most) {
  if (all.size() <= most) return;
  Seconds rest;
  for (std::size_t i = most - 1; i < all.size(); ++i) rest += all[i].seconds;
  const std::size_t count = all.size() - most + 1;
  all.resize(most - 1);
  all.push_back({fmt::format("{} others", count), rest});
}

}  // namespace

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
  std::erase_if(lines, [](const LayerDifference& line) {
    return !line.recut && line.eq1_before == line.eq1_after;
  });
  return lines;
}

std::vector<WaterfallBar> waterfall(const Scene& before, const Scene& after, WaterfallBy by,
                                    std::size_t most) {
  std::vector<Change> between = changes(before, after, by);
  gather_small(between, most);
  Seconds at = whole(before, by);
  std::vector<WaterfallBar> bars = {{"baseline", {}, at, {}, true}};
  for (const Change& change : between) {
    bars.push_back({change.what, at, at + change.seconds, find(after, change.what)});
    at += change.seconds;
  }
  const Seconds end = whole(after, by);
  if (bars.size() > 1) bars.back().to = end;  // but for rounding it is
  bars.push_back({"now", {}, end, {}, true});
  return bars;
}

std::string waterfall_caption(WaterfallBy by) {
  switch (by) {
    case WaterfallBy::layer:
      return "How much longer (or shorter) each layer's tasks stand on the critical path of a "
             "steady step. The bars add up to the difference of the step times.";
    case WaterfallBy::work:
      return "How much longer (or shorter) each kind of work stands on the critical path of a "
             "steady step. The bars add up to the difference of the step times.";
    case WaterfallBy::eq1_layer:
      return "How each layer's terms of Eq. 1 change: compute, transfers and synchronisation, "
             "without overlap. The bars add up to the difference of the two sums.";
    default:
      return "How the three sums of Eq. 1 change. The bars add up to the difference of the "
             "totals.";
  }
}

Document with_cuts_of(const Scene& before, const Scene& after,
                      const std::vector<std::string>& layers) {
  Document next = after.document;
  const auto now = after.prediction.strategy.configs();
  next.strategy.configs.assign(now.begin(), now.end());
  for (const std::string& layer : layers) {
    const auto from = find(before, layer), to = find(after, layer);
    if (from && to) next.strategy.configs[(*to)()] = before.prediction.strategy[*from];
  }
  return next;
}

}  // namespace strata::gui
