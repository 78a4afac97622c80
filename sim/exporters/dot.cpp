#include "sim/exporters/dot.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/plan/work_kind.h"
#include "sim/strategy/config_text.h"
#include "sim/text/units.h"

namespace strata {
namespace {

// Light enough for black text; the first for what most networks begin with.
constexpr std::array<std::string_view, 12> kColours = {"#cfe3f7", "#fbdcb8", "#cdebc9", "#f6cdd3",
                                                       "#e0d4f0", "#e8dccb", "#f9d5ec", "#dfe3e8",
                                                       "#edeeb3", "#c6ecee", "#ffd9c9", "#d5dcff"};
constexpr std::size_t kListedDevices = 4;

// A label is a quoted string in which Graphviz reads backslashes and entities.
std::string escaped(std::string_view text) {
  std::string result;
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '&') {
      result += "&amp;";
    } else {
      result += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? ' ' : c;
    }
  }
  return result;
}

std::string shape_of(const Extents& e) {
  std::string text = fmt::format("{}", e[Dim::c]);
  bool inside = false;
  for (Dim dim : kSpatialDims) {
    inside = inside || e[dim] > 1;
    if (inside) text += fmt::format(" x {}", e[dim]);
  }
  return text;
}

std::string title(const Layer& layer) {
  return fmt::format("{}\\n{}  {}", escaped(layer.name), name(layer.op), shape_of(layer.output));
}

std::string begin(const Graph& graph, const std::string& title) {
  return fmt::format(
      "digraph \"{}\" {{\n"
      "  label=\"{}\"; labelloc=t; fontname=\"sans-serif\";\n"
      "  node [shape=box, style=\"rounded,filled\", fillcolor=\"white\", "
      "fontname=\"sans-serif\", fontsize=11];\n"
      "  edge [fontname=\"sans-serif\", fontsize=9];\n",
      escaped(graph.name()), title);
}

/// What the strategy's plan moves for each layer.
struct Moves {
  std::map<std::pair<std::size_t, std::size_t>, Bytes> forward, backward;  ///< by layer and input
  std::map<std::size_t, Bytes> sync, sums;                                 ///< by layer
};

// The counting of communication(): r replicas of B bytes are 2 (r-1) B.
Moves moves_of(const Plan& plan) {
  Moves moves;
  for (const Task& task : plan.tasks()) {
    if (task.kind != TaskKind::transfer) continue;
    const Transfer& transfer = plan.transfers()[task.detail];
    if (plan.is_on_host(task)) continue;
    if (work_kind(task) == WorkKind::sync) {
      moves.sync[task.layer()] += transfer.bytes;
    } else if (is_sum(task.phase)) {
      moves.sums[task.layer()] += transfer.bytes;
    } else {
      auto& way = is_forward(task.phase) ? moves.forward : moves.backward;
      way[{task.layer(), transfer.input}] += transfer.bytes;
    }
  }
  for (const Group& group : plan.groups()) {
    if (group.purpose != GroupPurpose::parameters) continue;
    const auto replicas = static_cast<std::int64_t>(group.tasks.size());
    for (const SummedLayer& summed : group.layers) {
      const int halves = group.work == GroupWork::all_reduce ? 2 : 1;
      moves.sync[summed.layer()] += halves * (replicas - 1) * summed.bytes;
    }
  }
  return moves;
}

std::string device_names(const Cluster& cluster, const Config& config) {
  const std::size_t count = config.devices.size();
  const auto called = [&](std::size_t i) { return escaped(cluster[config.devices[i]].name); };
  std::string text = called(0);
  if (count > kListedDevices) return fmt::format("{} ... {}", text, called(count - 1));
  for (std::size_t i = 1; i < count; ++i) text += ", " + called(i);
  return text;
}

class CutWriter {
 public:
  CutWriter(const Graph& graph, const Cluster& cluster, const Strategy& strategy, const Plan& plan)
      : graph_(graph), cluster_(cluster), strategy_(strategy), moves_(moves_of(plan)) {}

  std::string run() && {
    text_ = begin(graph_,
                  fmt::format("{} cut as {} on {}, batch {}", escaped(graph_.name()),
                              escaped(strategy_.name()), escaped(cluster_.name()), graph_.batch()));
    for (std::size_t i = 0; i < graph_.size(); ++i) write_layer(i);
    for (std::size_t i = 0; i < graph_.size(); ++i) write_inputs(i);
    return text_ + "}\n";
  }

 private:
  // Those on the same devices in the same cut.
  std::string_view colour(const Config& config) {
    auto at = std::find(seen_.begin(), seen_.end(), config);
    if (at == seen_.end()) at = seen_.insert(at, config);
    return kColours[static_cast<std::size_t>(at - seen_.begin()) % kColours.size()];
  }

  void write_layer(std::size_t i) {
    const Layer& layer = graph_[LayerId(i)];
    if (is_input(layer.op)) {
      text_ += fmt::format("  n{} [label=\"{}\"];\n", i, title(layer));
      return;
    }
    const Config& config = strategy_[LayerId(i)];
    std::string label = fmt::format("{}\\n{} on {}", title(layer), config_text(config.degrees),
                                    device_names(cluster_, config));
    const auto sync = moves_.sync.find(i);
    if (sync != moves_.sync.end()) label += fmt::format("\\nsync {}", format_bytes(sync->second));
    const auto sums = moves_.sums.find(i);
    if (sums != moves_.sums.end()) label += fmt::format("\\nsums {}", format_bytes(sums->second));
    text_ += fmt::format("  n{} [label=\"{}\", fillcolor=\"{}\"];\n", i, label, colour(config));
  }

  void write_inputs(std::size_t i) {
    const Layer& layer = graph_[LayerId(i)];
    for (std::size_t input = 0; input < layer.inputs.size(); ++input) {
      text_ += fmt::format("  n{} -> n{}{};\n", layer.inputs[input](), i, moved(i, input));
    }
  }

  // Forward and, where a gradient goes back, backward.
  std::string moved(std::size_t layer, std::size_t input) const {
    const auto there = moves_.forward.find({layer, input});
    if (there == moves_.forward.end()) return "";
    const auto back = moves_.backward.find({layer, input});
    std::string label = format_bytes(there->second);
    if (back != moves_.backward.end())
      label += fmt::format("\\n{} back", format_bytes(back->second));
    return fmt::format(" [label=\"{}\", penwidth=2]", label);
  }

  const Graph& graph_;
  const Cluster& cluster_;
  const Strategy& strategy_;
  Moves moves_;
  std::vector<Config> seen_;
  std::string text_;
};

}  // namespace

std::string print_dot(const Graph& graph) {
  std::string text = begin(graph, escaped(graph.name()));
  for (std::size_t i = 0; i < graph.size(); ++i) {
    text += fmt::format("  n{} [label=\"{}\"];\n", i, title(graph[LayerId(i)]));
  }
  for (std::size_t i = 0; i < graph.size(); ++i) {
    for (LayerId input : graph[LayerId(i)].inputs) {
      text += fmt::format("  n{} -> n{};\n", input(), i);
    }
  }
  return text + "}\n";
}

std::string print_dot(const Graph& graph, const Cluster& cluster, const Strategy& strategy,
                      const Plan& plan) {
  return CutWriter(graph, cluster, strategy, plan).run();
}

}  // namespace strata
