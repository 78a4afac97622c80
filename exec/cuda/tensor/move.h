#pragma once

// Boxes between tensors, whatever their types, and between tensors and plain fp32 arrays.

#include <cstdint>
#include <span>

#include "exec/cuda/device/device.h"
#include "exec/cuda/tensor/tensor.h"
#include "exec/runtime/kernel.h"
#include "sim/graph/ops/facts.h"

namespace strata::cuda {

/// to[box] = from[box], in global coordinates; both regions hold the box.
void copy_box(const Region& to, const Region& from, const Box& box, Type type, Stream& stream);
/// to[box] += from[box].
void add_box(const Region& to, const Region& from, const Box& box, Type type, Stream& stream);
/// to = the sum of the others, all of one box, added up in fp32 in their order.
void sum_whole(const Region& to, std::span<const Region> from, Type type, Stream& stream);

/// Between a region's box and a plain array in this GPU's memory: row-major n c d h w over
/// `plain_box`, which holds the box.
void unpack_box(const Region& to, const float* plain, const Box& plain_box, const Box& box,
                Type type, Stream& stream);
void pack_box(float* plain, const Box& plain_box, const Region& from, const Box& box, Type type,
              Stream& stream);

/// to += from, fp32.
void add_values(float* to, const float* from, std::int64_t count, Stream& stream);
/// See Backend::combine(). There may be at most so many parts.
inline constexpr std::size_t kMostCombined = 64;
void combine_values(Combination how, float* to, std::span<const float* const> parts,
                    std::span<const std::int64_t> counts, std::int64_t begin, std::int64_t end,
                    Stream& stream);

}  // namespace strata::cuda
