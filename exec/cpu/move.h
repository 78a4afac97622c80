#pragma once

// Boxes on the move: copies and sums between tensors of any block, halos and gathered inputs, plain
// arrays in and out. `box` is in the coordinates of the tensors and lies in both of them. A copy of
// aligned channels moves whole runs; everything writes zeros to the unused places of a block that
// it completes (the destination's last channel).

#include <span>

#include "exec/cpu/tensor.h"

namespace strata::cpu {

void fill_zero(const Tensor& to);
/// The unused places of the last block alone.
void zero_unused(const Tensor& to);
void copy(const Tensor& to, const Tensor& from, const Box& box);
/// to += from, within the box.
void add(const Tensor& to, const Tensor& from, const Box& box);
/// to = the sum of all, in their order; every one has the box of `to`. One pass.
void sum(const Tensor& to, std::span<const Tensor> from);

/// Between a tensor's box and a plain row-major array (n, c, d, h, w) of exactly that box.
void pack(float* to, const Tensor& from, const Box& box);
void unpack(const Tensor& to, const float* from, const Box& box);

/// From and to a plain array that holds a whole tensor of extents `whole`; all of the tensor's box.
void load(const Tensor& to, const float* plain, const Extents& whole);
void store(float* plain, const Extents& whole, const Tensor& from);

}  // namespace strata::cpu
