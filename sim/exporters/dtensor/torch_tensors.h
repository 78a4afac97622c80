#pragma once

// How PyTorch's tensors lie of what is (n, c, d, h, w) here, and where a layout cuts them: the
// tensors that a layer reads, its parameters and its output. Internal to sim/exporters. Pure;
// thread-safe.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/exporters/dtensor/layout.h"
#include "sim/graph/graph.h"

namespace strata {

/// Of each layer's output, in torch's order: a network over h and w has n, c, h, w, one over w
/// alone n, c, w, and behind a flatten or a fully-connected layer tensors are n, c. Tokens are n,
/// w, c, and their numbers n, w. Throws InputError that names a layer that would read tokens as an
/// image, or the other way round.
std::vector<std::vector<Dim>> torch_dims(const Graph& graph);

/// A convolution or a pooling.
bool slides(const Op& op);

/// For each dim of the mesh: the dim of the tensor that it cuts, counted from 0, or none.
using TensorCuts = std::vector<std::optional<std::size_t>>;

struct NamedCuts {
  std::string_view name;  ///< "weight", "bias"
  TensorCuts cuts;
};

struct LayerTensors {
  std::vector<TensorCuts> inputs;  ///< as the layer reads them
  std::vector<NamedCuts> parameters;
  TensorCuts output;
  /// Whether each rank computes on its part alone: DTensor has no rule for the op, or gathers what
  /// is cut.
  bool local = false;
};

/// `dims`: of all layers. The layer has inputs, and its layout is expressible.
LayerTensors layer_tensors(const Graph& graph, LayerId layer, const DTensorLayout& layout,
                           const std::vector<std::vector<Dim>>& dims);

}  // namespace strata
