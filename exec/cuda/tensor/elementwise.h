#pragma once

// Loops over dense tensors of one shape, element by element: what lies at a place of the output
// follows from what lies there in the inputs. A thread has 16 bytes of each, the last one what is
// left; it moves them at once where all begin at a multiple of that, as a layer's gradients within
// a bucket may not. The output may be one of the inputs.

#include <cstdint>

#include "exec/cuda/tensor/tensor.h"

namespace strata::cuda {

template <class T, int inputs, class Function>
struct Elementwise {
  static constexpr int kWidth = 16 / sizeof(T);
  T* to;
  const T* from[inputs];
  std::int64_t count;
  Function function;
  bool aligned = true;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const std::int64_t first = i * kWidth;
    if (aligned && first + kWidth <= count) return whole_pack(i);
    for (std::int64_t k = first; k < count && k < first + kWidth; ++k) {
      float values[inputs];
      for (int input = 0; input < inputs; ++input) {
        values[input] = static_cast<float>(from[input][k]);
      }
      to[k] = T(function(values));
    }
  }

 private:
  STRATA_ANYWHERE void whole_pack(std::int64_t i) const {
    using Packed = Pack<T, kWidth>;
    Packed read[inputs], written;
    for (int input = 0; input < inputs; ++input) {
      read[input] = reinterpret_cast<const Packed*>(from[input])[i];
    }
    for (int k = 0; k < kWidth; ++k) {
      float values[inputs];
      for (int input = 0; input < inputs; ++input) {
        values[input] = static_cast<float>(read[input].values[k]);
      }
      written.values[k] = T(function(values));
    }
    reinterpret_cast<Packed*>(to)[i] = written;
  }
};

/// to[i] = function({from[0][i], from[1][i], ...}), in fp32.
template <class T, int inputs, class Function>
void elementwise(Stream& stream, T* to, const T* const (&from)[inputs], std::int64_t count,
                 const Function& function) {
  Elementwise<T, inputs, Function> loop{to, {}, count, function};
  loop.aligned = is_aligned(to);
  for (int input = 0; input < inputs; ++input) {
    loop.from[input] = from[input];
    loop.aligned = loop.aligned && is_aligned(from[input]);
  }
  each(stream, (count + loop.kWidth - 1) / loop.kWidth, loop);
}

}  // namespace strata::cuda
