#pragma once

// One step's data for a network. A view: the arrays must outlive it.

#include <cstdint>
#include <span>
#include <vector>

namespace strata {

/// Of every Input layer its whole tensor, row-major (n, c, d, h, w), in the order of the graph, and
/// a label for every position that the losses judge: by sample, then position. Equal numbers mean
/// equal data: a device that holds a batch already does not load it again.
struct Batch {
  std::uint64_t number = 0;
  std::vector<std::span<const float>> inputs;
  std::span<const std::int64_t> labels;
};

}  // namespace strata
