#include "sim/importers/onnx/value.h"

#include <algorithm>

namespace strata {

Axes usual_axes(std::size_t rank) {
  Axes axes = {Dim::n, Dim::c};
  for (std::size_t i = 2; i < rank; ++i) axes.push_back(kDims[kDims.size() - rank + i]);
  return axes;
}

Extents sample_extents(const TensorDims& dims, const Axes& axes) {
  Extents extents = {{1, 1, 1, 1, 1}};
  for (std::size_t i = 1; i < dims.size(); ++i) extents[*axes[i]] = dims[i];
  return extents;
}

bool is_usual(const Axes& axes, const Extents& extents) {
  if (axes.size() < 2 || axes.size() > kDims.size() || axes[0] != Dim::n) return false;
  const Axes usual = usual_axes(axes.size());
  for (std::size_t i = 1; i < axes.size(); ++i) {
    const std::int64_t extent = axes[i] ? extents[*axes[i]] : 1;
    if (axes[i] != usual[i] && (extent != 1 || extents[*usual[i]] != 1)) return false;
  }
  return std::all_of(kDims.begin() + 1, kDims.end(), [&](Dim dim) {
    return extents[dim] == 1 || std::find(usual.begin(), usual.end(), Axis(dim)) != usual.end();
  });
}

}  // namespace strata
