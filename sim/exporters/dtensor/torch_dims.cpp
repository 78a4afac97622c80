#include "sim/exporters/dtensor/torch_dims.h"

#include <algorithm>
#include <variant>

namespace strata {
namespace {

// The last so many of d, h, w, over which any layer extends.
std::ptrdiff_t spatial_dims(const Graph& graph) {
  std::size_t most = 0;
  for (const Layer& layer : graph.layers()) {
    for (std::size_t k = 0; k < kSpatialDims.size(); ++k) {
      if (layer.output[kSpatialDims[k]] > 1) most = std::max(most, kSpatialDims.size() - k);
    }
  }
  return static_cast<std::ptrdiff_t>(most);
}

bool flattens(const Op& op) {
  return std::holds_alternative<FullyConnected>(op) || std::holds_alternative<Flatten>(op);
}

bool slides(const Op& op) {
  return std::holds_alternative<Convolution>(op) || std::holds_alternative<Pooling>(op) ||
         std::holds_alternative<AdaptivePooling>(op);
}

}  // namespace

std::vector<std::vector<Dim>> torch_dims(const Graph& graph) {
  const std::vector<Dim> flat = {Dim::n, Dim::c};
  std::vector<Dim> deep = flat;
  deep.insert(deep.end(), kSpatialDims.end() - spatial_dims(graph), kSpatialDims.end());
  std::vector<std::vector<Dim>> dims;
  for (const Layer& layer : graph.layers()) {
    const bool follows =
        !layer.inputs.empty() && dims[layer.inputs.front()()] == flat && !slides(layer.op);
    dims.push_back(flattens(layer.op) || follows ? flat : deep);
  }
  return dims;
}

}  // namespace strata
