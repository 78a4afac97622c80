#pragma once

// Values in a GPU's memory, there and back by copies on a stream; and how a box of a tensor lies
// there, element by element.

#include <cstdint>
#include <vector>

#include "exec/cuda/device/device.h"
#include "exec/cuda/streams/seat.h"
#include "exec/cuda/tensor/tensor.h"
#include "tests/exec/reference/tensor.h"

namespace strata::cuda {

template <class T>
class GpuArray {
 public:
  /// The values may go when this returns: a copy from pageable memory may read them late.
  GpuArray(Stream& stream, const std::vector<T>& values)
      : stream_(stream), memory_(stream.gpu(), bytes_of(values)), count_(values.size()) {
    copy(memory_.data(), values.data(), bytes_of(values), stream);
    stream.finish();
  }

  T* data() const { return static_cast<T*>(memory_.data()); }
  Region region(const Box& box) const { return {memory_.data(), box}; }
  /// What is there once all of the stream is done.
  std::vector<T> get() const {
    std::vector<T> values(count_);
    copy(values.data(), memory_.data(), bytes_of(values), stream_);
    stream_.finish();
    return values;
  }

 private:
  static std::int64_t bytes_of(const std::vector<T>& values) {
    return static_cast<std::int64_t>(values.size() * sizeof(T));
  }

  Stream& stream_;
  LastingMemory memory_;
  std::size_t count_;
};

/// visit(n, c, d, h, w) in the order of a GPU's memory.
template <class Visit>
void each_as_it_lies(const Box& box, const Visit& visit) {
  const auto& [n, c, d, h, w] = box.values;
  for (std::int64_t in = n.begin; in < n.end; ++in)
    for (std::int64_t id = d.begin; id < d.end; ++id)
      for (std::int64_t ih = h.begin; ih < h.end; ++ih)
        for (std::int64_t iw = w.begin; iw < w.end; ++iw)
          for (std::int64_t ic = c.begin; ic < c.end; ++ic) visit(in, ic, id, ih, iw);
}

/// A box of a tensor as it lies in a GPU's memory.
template <class T>
std::vector<T> laid_out(const reference::Tensor& whole, const Box& box) {
  std::vector<T> values;
  each_as_it_lies(box,
                  [&](auto... at) { values.push_back(T(static_cast<float>(whole.at(at...)))); });
  return values;
}

template <class T>
std::vector<float> as_floats(const std::vector<T>& values) {
  std::vector<float> floats;
  for (const T& value : values) floats.push_back(static_cast<float>(value));
  return floats;
}

}  // namespace strata::cuda
