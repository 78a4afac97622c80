#pragma once

// Which layers a step computes again for its backward pass, not to keep what their forward pass
// made: a policy beside the cuts (Chen et al., 2016; selective: Korthikanti et al., 2022). Layers
// of one segment are computed again together, once the gradient of the last one's output is there;
// what layers outside read, and what the segment reads of them, is kept. Pure; thread-safe.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sim/graph/graph.h"

namespace strata {

enum class Recompute : std::uint8_t { none, selective, full };
inline constexpr std::array<std::string_view, 3> kRecomputeNames = {"none", "selective", "full"};
inline std::string_view name(Recompute recompute) {
  return kRecomputeNames[static_cast<std::size_t>(recompute)];
}

/// By layer its segment, from 1 on, or 0; empty where no layer has one.
using Segments = std::vector<std::uint32_t>;

/// selective: each attention whose kernels (`kernels`) keep its scores. full: a network's blocks
/// (blocks.h), from one place at which a single tensor goes on to the next such place; of a network
/// without blocks, about as many segments as a segment has layers.
Segments segments(const Graph& graph, Recompute recompute, const KernelTraits& kernels);

/// What the kernels of some device keep: what one must compute again, all do.
KernelTraits keeping_most(std::span<const KernelTraits> kernels);

/// Of each segment, the layers that must be computed again, since a backward pass of the segment
/// needs what they made: the last ones of a block mostly need not. By layer.
std::vector<bool> computed_again(const Graph& graph, const Segments& segments,
                                 const KernelTraits& kernels);

}  // namespace strata
