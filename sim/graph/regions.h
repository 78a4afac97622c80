#pragma once

// The one function per op that carries the whole method: given the Box of the output that a shard
// computes, which region of each input does it need? Transfers, halos, gradient flow, volumes and
// the executor's copies all follow from it by intersecting Boxes. A new op is one new case here.

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sim/graph/graph.h"

namespace strata {

/// The disjoint boxes of input `input` (its position in layer.inputs) that a shard computing
/// `output` (a non-empty box of the layer's output) reads, clipped to the input's extents. One box
/// for every op but Flatten, whose channel range is a run of the input in row-major order and
/// takes up to seven boxes to say exactly. Along a strided window the box is the hull: rows that
/// a stride skips are counted. Empty when nothing is needed (a concat's other inputs).
std::vector<Box> needed_input(const Graph& graph, LayerId layer, std::size_t input,
                              const Box& output);

/// An earlier input that reads exactly the same (an Add of a tensor to itself, its square): the
/// boxes arrive once for both, and one sum of gradients goes back.
std::optional<std::size_t> earlier_reading(const Layer& layer, std::size_t input);

/// The dims over which the layer's shards must sum partial statistics before any can finish
/// (batch norm: n, d, h, w; softmax: c; none else), and how many values per statistic group.
struct Statistics {
  PerDim<bool> over;                 ///< shards that differ only in these dims exchange
  std::int64_t forward_values = 0;   ///< fp32 values each shard contributes, forward
  std::int64_t backward_values = 0;  ///< and backward
  bool operator==(const Statistics&) const = default;
};
/// For the shard with this output box.
Statistics statistics(const Layer& layer, const Box& output);

/// The parameters (in elements) that a shard with this output box holds: they are cut in c alone.
Parameters shard_parameters(const Layer& layer, const Box& output);

/// The greatest degree that the layer's output may be cut with in each dim: its extent, but 1 in
/// all dims but n of an opaque op.
Extents most_parts(const Layer& layer);
/// What sets that limit, for messages: "its extent", or that the op is opaque.
std::string_view why_no_more(const Layer& layer, Dim dim);

/// The dims of Table 1 along which the layer's output may be cut: those of extent > 1.
PerDim<bool> parallelizable(const Layer& layer);

}  // namespace strata
