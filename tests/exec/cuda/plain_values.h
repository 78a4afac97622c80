#pragma once

// Plain values in a seat's memory, for tests that run a kernel by itself.

#include <vector>

#include "exec/cuda/streams/seat.h"
#include "exec/cuda/tensor/tensor.h"

namespace strata::cuda {

/// In the memory's own order, each rounded to T.
template <class T>
LastingMemory put(const std::vector<double>& values, Seat& seat) {
  std::vector<T> held;
  for (double value : values) held.push_back(T(static_cast<float>(value)));
  const auto bytes = static_cast<std::int64_t>(held.size() * sizeof(T));
  LastingMemory memory(seat.gpu(), bytes);
  copy(memory.data(), held.data(), bytes, seat.stream());
  return memory;
}

/// All of it, once the seat's work is done.
inline std::vector<float> get(const LastingMemory& memory, Seat& seat) {
  std::vector<float> values(static_cast<std::size_t>(memory.bytes()) / sizeof(float));
  copy(values.data(), memory.data(), memory.bytes(), seat.stream());
  seat.stream().finish();
  return values;
}

}  // namespace strata::cuda
