#include "sim/graph/ops/flatten.h"

#include <utility>

#include "sim/graph/ops/checks.h"

namespace strata {

Extents Flatten::output(InputExtents inputs) const {
  Extents in = only(inputs);
  const std::int64_t n = std::exchange(in[Dim::n], 1);
  return {{n, volume(in), 1, 1, 1}};  // kMaxElements bounds the volume
}

}  // namespace strata
