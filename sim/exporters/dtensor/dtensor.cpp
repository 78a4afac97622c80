#include "sim/exporters/dtensor/dtensor.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/exporters/dtensor/torch_functions.h"
#include "sim/exporters/dtensor/torch_tensors.h"
#include "sim/text/json.h"

namespace strata {
namespace {

constexpr std::size_t kNamedLayers = 8;

// JSON's strings are Python's, too.
std::string quoted(std::string_view text) {
  return json_string(text);
}

template <class Items, class Print>
std::string tuple_of(const Items& items, Print print) {
  std::string text;
  std::size_t count = 0;
  for (const auto& item : items) text += fmt::format("{}{}", count++ > 0 ? ", " : "", print(item));
  return fmt::format("({}{})", text, count == 1 ? "," : "");
}

class ModuleWriter {
 public:
  ModuleWriter(const Graph& graph, const Cluster& cluster, const Strategy& strategy,
               const DTensorLayout& layout)
      : graph_(graph),
        cluster_(cluster),
        strategy_(strategy),
        layout_(layout),
        dims_(torch_dims(graph)) {}

  std::string run() && {
    put("\"\"\"Placements of PyTorch's DTensor for a strategy of Strata (strata export dtensor).");
    put("\nThe module imports without torch; its functions need torch 2.5 or newer, and were run "
        "with 2.15.\n\"\"\"\n");
    write_limits();
    write_mesh();
    write_layers();
    write_limit_table();
    return text_ + std::string(dtensor_functions());
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }

  void write_limits() {
    const std::vector<std::string> lines = limit_lines(graph_, layout_);
    put("# {}", lines.empty() ? "DTensor expresses all of this strategy."
                              : "What DTensor cannot express of this strategy, or does otherwise:");
    for (const std::string& line : lines) put("#  * {}", line);
    put("");
  }

  void write_mesh() {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < layout_.mesh.size(); ++i) names.push_back(fmt::format("m{}", i));
    put("MODEL = {}", quoted(graph_.name()));
    put("STRATEGY = {}", quoted(strategy_.name()));
    put("CLUSTER = {}", quoted(cluster_.name()));
    put("BATCH = {}", graph_.batch());
    put("DEVICES = {}  # by rank",
        tuple_of(cluster_.devices(), [](const Device& device) { return quoted(device.name); }));
    const auto number = [](std::int64_t extent) { return fmt::format("{}", extent); };
    put("MESH_SHAPE = {}", tuple_of(layout_.mesh, number));
    put("MESH_NAMES = {}\n", tuple_of(names, [](const std::string& name) { return quoted(name); }));
  }

  // Network inputs and labels cost nothing to place: their layers are not listed.
  void write_layers() {
    put("# For each dim of the mesh: the dim of the tensor that it cuts, Shard(dim), or None,");
    put("# Replicate(): of what the layer reads, of its parameters, and of its output. None in "
        "place");
    put("# of a tuple: not expressible. A local layer computes on each rank's part alone.");
    put("LAYERS = {{");
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const Layer& layer = graph_[LayerId(i)];
      if (!is_input(layer.op)) write_layer(LayerId(i));
    }
    put("}}\n");
  }

  void write_layer(LayerId id) {
    const Layer& layer = graph_[id];
    const std::string head = fmt::format("    {}: {{\"op\": {}, \"shape\": {}", quoted(layer.name),
                                         quoted(name(layer.op)), shape(id));
    if (!layout_.layers[id()].expressible) {
      put("{}, \"inputs\": None, \"parameters\": None, \"output\": None}},", head);
      return;
    }
    const LayerTensors tensors = layer_tensors(graph_, id, layout_, dims_);
    std::vector<std::string> parameters;
    for (const auto& [parameter, cuts] : tensors.parameters) {
      parameters.push_back(fmt::format("{}: {}", quoted(parameter), cuts_text(cuts)));
    }
    put("{},", head);
    put("        \"inputs\": {}, \"parameters\": {{{}}}, \"output\": {}{}}},",
        tuple_of(tensors.inputs, cuts_text), fmt::join(parameters, ", "), cuts_text(tensors.output),
        tensors.local ? ", \"local\": True" : "");
  }

  std::string shape(LayerId id) const {
    return tuple_of(dims_[id()],
                    [&](Dim dim) { return fmt::format("{}", graph_[id].output[dim]); });
  }

  static std::string cuts_text(const TensorCuts& cuts) {
    return tuple_of(cuts, [](std::optional<std::size_t> dim) {
      return dim ? fmt::format("{}", *dim) : std::string("None");
    });
  }

  void write_limit_table() {
    put("LIMITS = {{");
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const LayerLayout& layout = layout_.layers[i];
      if (layout.limits.empty()) continue;
      put("    {}: {},", quoted(graph_[LayerId(i)].name),
          tuple_of(layout.limits, [](const std::string& limit) { return quoted(limit); }));
    }
    put("}}");
  }

  const Graph& graph_;
  const Cluster& cluster_;
  const Strategy& strategy_;
  const DTensorLayout& layout_;
  std::vector<std::vector<Dim>> dims_;  // by layer
  std::string text_;
};

}  // namespace

std::string print_dtensor(const Graph& graph, const Cluster& cluster, const Strategy& strategy,
                          const DTensorLayout& layout) {
  return ModuleWriter(graph, cluster, strategy, layout).run();
}

std::vector<std::string> limit_lines(const Graph& graph, const DTensorLayout& layout) {
  std::vector<std::pair<std::string, std::vector<std::string>>> shared;  // limit: layers
  for (std::size_t i = 0; i < graph.size(); ++i) {
    for (const std::string& limit : layout.layers[i].limits) {
      auto at = std::find_if(shared.begin(), shared.end(),
                             [&](const auto& known) { return known.first == limit; });
      if (at == shared.end()) at = shared.insert(at, {limit, {}});
      at->second.push_back(quoted(graph[LayerId(i)].name));
    }
  }
  std::vector<std::string> lines;
  for (auto& [limit, layers] : shared) {
    const std::size_t more = layers.size() > kNamedLayers ? layers.size() - kNamedLayers : 0;
    layers.resize(layers.size() - more);
    const std::string rest = more > 0 ? fmt::format(" and {} more", more) : "";
    lines.push_back(fmt::format("{}{}: {}", fmt::join(layers, ", "), rest, limit));
  }
  return lines;
}

}  // namespace strata
