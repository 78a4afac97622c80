#include "sim/exporters/dtensor/dtensor.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/exporters/dtensor/torch_limits.h"
#include "sim/text/json.h"

namespace strata {
namespace {

constexpr std::size_t kNamedLayers = 8;

constexpr std::string_view kFunctions = R"(

def device_mesh(device_type="cuda"):
    """The mesh; torch.distributed must run with a rank a device, in DEVICES' order."""
    from torch.distributed.device_mesh import init_device_mesh
    return init_device_mesh(device_type, MESH_SHAPE, mesh_dim_names=MESH_NAMES)


def placements(cuts):
    """A tuple of LAYERS as torch's placements."""
    from torch.distributed.tensor import Replicate, Shard
    return [Replicate() if dim is None else Shard(dim) for dim in cuts]


def distribute_parameters(module, layer, mesh):
    """Lays the parameters of one module out as those of a layer of LAYERS."""
    from torch.distributed.tensor import distribute_tensor
    from torch.nn import Parameter
    cuts = placements(LAYERS[layer]["parameters"])
    for name, tensor in list(module.named_parameters(recurse=False)):
        module.register_parameter(name, Parameter(distribute_tensor(tensor.data, mesh, cuts)))


def redistribute_output(output, layer, mesh):
    """Brings a DTensor into the layout of a layer's output."""
    return output.redistribute(mesh, placements(LAYERS[layer]["output"]))
)";

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
    put("\nThe module imports without torch; its functions need torch 2.5 or newer.\n\"\"\"\n");
    write_limits();
    write_mesh();
    write_layers();
    write_limit_table();
    return text_ + std::string(kFunctions);
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
    put("# Replicate(). None in place of a tuple: not expressible.");
    put("LAYERS = {{");
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const Layer& layer = graph_[LayerId(i)];
      if (!is_input(layer.op)) write_layer(LayerId(i));
    }
    put("}}\n");
  }

  void write_layer(LayerId id) {
    const Layer& layer = graph_[id];
    const LayerLayout& layout = layout_.layers[id()];
    put("    {}: {{\"op\": {}, \"shape\": {}, \"output\": {}, \"parameters\": {}}},",
        quoted(layer.name), quoted(name(layer.op)), shape(id), output_cuts(id, layout),
        parameter_cuts(layer, layout));
  }

  std::string shape(LayerId id) const {
    return tuple_of(dims_[id()],
                    [&](Dim dim) { return fmt::format("{}", graph_[id].output[dim]); });
  }

  std::string output_cuts(LayerId id, const LayerLayout& layout) const {
    if (!layout.expressible) return "None";
    const std::vector<Dim>& dims = dims_[id()];
    return tuple_of(layout.cuts, [&](std::optional<Dim> cut) {
      if (!cut) return std::string("None");
      return fmt::format("{}", std::find(dims.begin(), dims.end(), *cut) - dims.begin());
    });
  }

  // Parameters lead with the output's channels, and only a cut in c cuts them.
  static std::string parameter_cuts(const Layer& layer, const LayerLayout& layout) {
    if (!layout.expressible || layer.parameters.total() == 0) return "None";
    return tuple_of(layout.cuts,
                    [](std::optional<Dim> cut) { return cut == Dim::c ? "0" : "None"; });
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

// Whose tensors are (n, c, w) here and (n, w, c) in PyTorch.
bool of_tokens(const Op& op) {
  return std::holds_alternative<Linear>(op) || std::holds_alternative<Attention>(op) ||
         std::holds_alternative<Embedding>(op) || std::holds_alternative<PositionEmbedding>(op) ||
         std::holds_alternative<Tokens>(op) || std::holds_alternative<SelectToken>(op);
}

}  // namespace

std::string print_dtensor(const Graph& graph, const Cluster& cluster, const Strategy& strategy,
                          const DTensorLayout& layout) {
  for (const Layer& layer : graph.layers()) {
    if (!of_tokens(layer.op)) continue;
    throw InputError(
        fmt::format("network {}: layer {}: {} is not written; allowed: networks of images, whose "
                    "tensors lie in PyTorch as they do here",
                    graph.name(), layer.name, name(layer.op)));
  }
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
