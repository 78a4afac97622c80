#include "gui/models/compare/differences.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gui/models/compare/waterfall.h"
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

std::string layer_cut(const Scene& scene, LayerId layer) {
  return config_text(scene.input.graph, std::span(&layer, 1), scene.prediction.strategy[layer]);
}

void fill_before(const Scene& scene, const std::vector<Seconds>& steps, LayerDifference& line) {
  if (!line.before) return;
  line.cut_before = layer_cut(scene, *line.before);
  line.eq1_before = scene.prediction.terms[(*line.before)()];
  line.step_before = steps[(*line.before)()];
}

void fill_after(const Scene& scene, const std::vector<Seconds>& steps, LayerDifference& line) {
  if (!line.after) return;
  line.cut_after = layer_cut(scene, *line.after);
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

using None = std::monostate;
using Row = LayerDifference;

TableCell change_cell(Seconds change, const QString& tip = {}) {
  return {signed_seconds(change), change.value, tip, change.value};
}
template <Seconds LayerTerms::*term>
TableCell term_change(const None& /*none*/, const Row& row) {
  return change_cell(row.eq1_after.*term - row.eq1_before.*term);
}
template <Seconds Row::*seconds>
TableCell part_of_step(const None& /*none*/, const Row& row) {
  const Seconds part = row.*seconds;
  return {part.value > 0 ? human_seconds(part) : QString(), part.value};
}
template <std::string Row::*text>
TableCell text_cell(const None& /*none*/, const Row& row) {
  return {QString::fromStdString(row.*text)};
}

constexpr std::array<DifferenceTable::Spec, DifferenceTable::kColumns> kDifferenceColumns = {{
    {"Layer", "", "layer", false,
     [](auto& /*none*/, auto& row) {
       constexpr qlonglong kLast = std::numeric_limits<qlonglong>::max(), kRecut = kLast / 2;
       if (!row.after) return TableCell{QString::fromStdString(row.layer), kLast};
       const auto at = static_cast<qlonglong>((*row.after)());
       return TableCell{QString::fromStdString(row.layer), row.recut ? at : at + kRecut};
     }},
    {"Baseline", "How the baseline cuts it", "cut_before", false, text_cell<&Row::cut_before>},
    {"Now", "How it is cut now", "cut_after", false, text_cell<&Row::cut_after>},
    {"Step",
     "What changes in its time on the critical path. The step times differ by all of these and by "
     "what has no row: waiting, the network's inputs",
     "step_change_seconds", true,
     [](auto& /*none*/, auto& row) {
       return change_cell(row.step_change(),
                          DifferenceTable::tr("On the critical path: %1 before, %2 now")
                              .arg(human_seconds(row.step_before), human_seconds(row.step_after)));
     }},
    {"Eq. 1", "What changes in its terms of Eq. 1: compute, transfers, synchronisation",
     "eq1_change_seconds", true,
     [](auto& /*none*/, auto& row) { return change_cell(row.eq1_change()); }},
    {"Compute", "What changes in t_C of Eq. 1", "compute_change_seconds", true,
     term_change<&LayerTerms::compute>},
    {"Transfer", "What changes in t_X of Eq. 1", "transfer_change_seconds", true,
     term_change<&LayerTerms::transfer>},
    {"Sync", "What changes in t_S of Eq. 1", "sync_change_seconds", true,
     term_change<&LayerTerms::sync>},
    {"Step before", "Its time on the critical path of the baseline's step", "step_before_seconds",
     true, part_of_step<&Row::step_before>},
    {"Step now", "Its time on the critical path of the step", "step_after_seconds", true,
     part_of_step<&Row::step_after>},
}};

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
  // Those that are cut otherwise first: of the others the costs alone are.
  std::stable_partition(lines.begin(), lines.end(),
                        [](const LayerDifference& line) { return line.recut; });
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

QString signed_seconds(Seconds change) {
  if (std::abs(change.value) < 5e-13) return {};  // a picosecond is rounding
  const QString size = human_seconds({std::abs(change.value)});
  return (change.value > 0 ? QStringLiteral("+") : QStringLiteral("-")) + size;
}

DifferenceTable::DifferenceTable(QObject* parent) : RowTable(kDifferenceColumns, parent) {}

}  // namespace strata::gui
