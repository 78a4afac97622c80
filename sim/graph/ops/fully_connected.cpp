#include "sim/graph/ops/fully_connected.h"

#include "sim/graph/ops/checks.h"

namespace strata {

Extents FullyConnected::output(InputExtents inputs) const {
  check_range("out_features", out_features, 1, kMaxExtent);
  return {{only(inputs)[Dim::n], out_features, 1, 1, 1}};
}

std::int64_t FullyConnected::macs_per_output(InputExtents inputs) const {
  return volume(inputs[0]) / inputs[0][Dim::n];
}

Parameters FullyConnected::parameters(InputExtents inputs) const {
  return {bounded_product(out_features, macs_per_output(inputs), kMaxElements),
          bias ? out_features : 0};
}

}  // namespace strata
