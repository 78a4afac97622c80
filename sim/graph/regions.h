#pragma once

// What carries the whole method: given the Tile of the layer that a shard computes, which region of
// each input does it need? Transfers, halos, gradient flow, volumes and the executor's copies all
// follow from it by intersecting Boxes, and it follows from the op's access map (ops/access.h).

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/graph/graph.h"

namespace strata {

/// How the layer reads input `input` (its position in layer.inputs).
AccessMap access_map(const Graph& graph, LayerId layer, std::size_t input);

/// The disjoint boxes of input `input` (its position in layer.inputs) that a shard (a tile with a
/// non-empty box of the layer's output) reads, clipped to the input's extents. One box
/// for every op but Flatten, whose channel range is a run of the input in row-major order and
/// takes up to seven boxes to say exactly. Along a strided window the box is the hull: rows that
/// a stride skips are counted. Empty when nothing is needed (a concat's other inputs).
std::vector<Box> needed_input(const Graph& graph, LayerId layer, std::size_t input,
                              const Tile& shard);
/// The same, of an input of these extents, for many shards of one layer.
std::vector<Box> needed_input(const AccessMap& access, const Extents& input, const Tile& shard);

/// An earlier input that reads exactly the same (an Add of a tensor to itself, its square): the
/// boxes arrive once for both, and one sum of gradients goes back.
std::optional<std::size_t> earlier_reading(const Layer& layer, std::size_t input);

/// Whether one layer reads both, or what norms or adapters make of them: an attention its query and
/// key.
bool meet(const Graph& graph, LayerId a, LayerId b);

/// The first layer that reads the layer's only input for both where they are cut alike: the same
/// boxes arrive once, and one sum of gradients goes back. Both are linear, with weights of their
/// own, and meet() (in an attention, a gate), or adapt such products. Invalid where there is none.
LayerId first_reader(const Graph& graph, LayerId layer);

/// For the shard with this output box.
Statistics statistics(const Layer& layer, const Box& output);

/// The parameters (in elements) that a shard holds: they are cut in the dims that they carry, and
/// the weight in r. The bias belongs to the first of a sum's terms.
Parameters shard_parameters(const Layer& layer, const Tile& shard);

/// The greatest degree that the layer's output may be cut with in each dim: its extent, or its
/// units (an attention's heads), but 1 in all dims but n of an opaque op.
Extents most_parts(const Layer& layer);
/// Whether the layer's output may be cut into so many parts along the dim: from 1 to most_parts(),
/// which it must divide where the dim has units.
bool may_cut(const Layer& layer, Dim dim, std::int64_t degree);
/// The greatest degree up to `wanted` that may_cut().
std::int32_t clipped(const Layer& layer, Dim dim, std::int64_t wanted);
/// What sets these limits, for messages: "its extent", that degrees divide its heads, or that the
/// op is opaque.
std::string why_no_more(const Layer& layer, Dim dim);
/// The greatest degree in r: the terms of its sums, or of a layer without sums how many copies its
/// extents allow, but none of a loss.
std::int64_t most_parts_of_sums(const Layer& layer);
/// What sets that limit: "its input channels".
std::string_view why_no_more_terms(const Layer& layer);
/// The dims along which the sums of a layer that is cut by `degrees`, of which r is more than 1,
/// may be divided among its shards: those where the owners are not too many.
PerDim<bool> may_scatter(const Layer& layer, const Degrees& degrees);

}  // namespace strata
