#pragma once

// The two products that read a fully-connected layer's weight matrix, where the batch is so small
// that what they cost is reading that matrix once. Nothing is packed;
// the weights stay as the layer has them. Built once per instruction set; which one runs is decided
// at run time. Immutable tables; thread-safe.

#include <cstdint>
#include <vector>

namespace strata::cpu {

/// Row-major: row k begins `stride` floats after row k - 1.
template <class T>
struct Rows {
  T* data = nullptr;
  std::int64_t stride = 0;
};
using ConstRows = Rows<const float>;

struct ThinExtents {
  std::int64_t samples = 0, inputs = 0, outputs = 0;
};

/// x: samples x inputs; w: outputs x inputs; y: samples x outputs.
struct ThinProducts {
  const char* name;
  /// y += x w^T
  void (*forward)(const ThinExtents& extents, ConstRows x, ConstRows w, Rows<float> y);
  /// dx += dy w
  void (*backward_data)(const ThinExtents& extents, ConstRows dy, ConstRows w, Rows<float> dx);
};

/// The fastest that this machine runs.
const ThinProducts& thin_products();
/// All that this machine runs.
std::vector<const ThinProducts*> all_thin_products();

}  // namespace strata::cpu
