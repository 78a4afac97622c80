#pragma once

// Which dims PyTorch's tensors have: a network over h and w has n, c, h, w, one over w alone n, c,
// w, and behind a flatten or a fully-connected layer tensors are n, c. Internal to sim/exporters.

#include <vector>

#include "sim/graph/graph.h"

namespace strata {

/// Of each layer's output, in torch's order.
std::vector<std::vector<Dim>> torch_dims(const Graph& graph);

}  // namespace strata
