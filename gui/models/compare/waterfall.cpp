#include "gui/models/compare/waterfall.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace strata::gui {
namespace {

// What a bar stands for: a layer's name, or a kind of work.
std::string bar_key(const PathPart& part, const Scene& scene, WaterfallBy by) {
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
  for (const PathPart& part : eq1 ? eq1_contributions(scene) : path_contributions(scene)) {
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

std::optional<LayerId> layer_named(const Scene& scene, const std::string& name) {
  const LayerId id = scene.input.graph.find(name);
  return id.valid() ? std::optional(id) : std::nullopt;
}

}  // namespace

std::vector<WaterfallBar> waterfall(const Scene& before, const Scene& after, WaterfallBy by) {
  Seconds at = whole(before, by);
  std::vector<WaterfallBar> bars = {{"baseline", {}, at, {}, {}, true}};
  for (const Change& change : changes(before, after, by)) {
    bars.push_back({change.what, at, at + change.seconds, layer_named(after, change.what)});
    at += change.seconds;
  }
  const Seconds end = whole(after, by);
  if (bars.size() > 1) bars.back().to = end;  // but for rounding it is
  bars.push_back({"now", {}, end, {}, {}, true});
  return bars;
}

std::vector<WaterfallBar> gathered(std::vector<WaterfallBar> bars, std::size_t most) {
  most = std::max<std::size_t>(most, 3);
  if (bars.size() <= most) return bars;
  const std::size_t kept = most - 2, count = bars.size() - 1 - kept;
  WaterfallBar rest{fmt::format("{} others", count), bars[kept].from, bars[bars.size() - 2].to};
  for (std::size_t i = kept; i + 1 < bars.size(); ++i) {
    if (bars[i].layer) rest.gathered.push_back(*bars[i].layer);
  }
  bars[kept] = std::move(rest);
  bars.erase(bars.begin() + static_cast<std::ptrdiff_t>(kept) + 1, bars.end() - 1);
  return bars;
}

double WaterfallAxis::place(Seconds at) const {
  if (!broken()) return at / high;
  if (at < left_out) return kBreak * (at / left_out);
  return kBreak + (1 - kBreak) * ((at - left_out) / (high - left_out));
}

WaterfallAxis axis_of(const std::vector<WaterfallBar>& bars) {
  if (bars.empty()) return {};
  Seconds low = bars.front().to, high = low;
  for (const WaterfallBar& bar : bars) {
    low = std::min(low, bar.to);
    high = std::max(high, bar.to);
  }
  if (high <= Seconds{}) return {};
  const Seconds change = high - low;
  const bool small = change > Seconds{} && 10 * change < high;
  return {small ? low - 3 * change : Seconds{}, high};
}

std::string waterfall_title(WaterfallBy by) {
  switch (by) {
    case WaterfallBy::layer:
      return "Time on the critical path of a step, by layer";
    case WaterfallBy::work:
      return "Time on the critical path of a step, by kind of work";
    case WaterfallBy::eq1_layer:
      return "Terms of Eq. 1, by layer";
    default:
      return "Terms of Eq. 1";
  }
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

std::vector<PathPart> path_contributions(const Scene& scene) {
  const Timeline& timeline = scene.prediction.timeline;
  std::vector<PathPart> parts = path_parts(scene.prediction.plan, timeline, scene.path);
  Seconds left = timeline.step_seconds();
  for (const PathPart& part : parts) left -= part.seconds;
  const Seconds rounding = timeline.step_seconds() * 1e-12;
  if (left > rounding) parts.push_back({LayerId(), WorkKind::waiting, left});
  return parts;
}

std::vector<PathPart> eq1_contributions(const Scene& scene) {
  std::vector<PathPart> parts;
  for (std::size_t i = 0; i < scene.prediction.terms.size(); ++i) {
    const LayerTerms& terms = scene.prediction.terms[i];
    const auto add = [&](WorkKind kind, Seconds seconds) {
      if (seconds.value > 0) parts.push_back({LayerId(i), kind, seconds});
    };
    add(WorkKind::forward, terms.compute);
    add(WorkKind::transfer, terms.transfer);
    add(WorkKind::sync, terms.sync);
  }
  return parts;
}

}  // namespace strata::gui
