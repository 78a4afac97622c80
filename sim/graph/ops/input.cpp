#include "sim/graph/ops/input.h"

#include "sim/graph/ops/checks.h"

namespace strata {

Extents Input::output(InputExtents inputs) const {
  if (!inputs.empty()) fail("an input layer reads no other layer");
  if (extents[Dim::n] != 1) fail("an input's extents are of one sample: n must be 1");
  for (Dim dim : kDims) {
    check_range(fmt::format("{} extent", word(dim)), extents[dim], 1, kMaxExtent);
  }
  return extents;
}

}  // namespace strata
