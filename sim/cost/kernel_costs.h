#pragma once

// What a shard costs by the kernel tables of a profile: which kernel does its work, and what that
// takes. Relations stand in for what no table has (docs/profiles.md, "Kernel tables"). Immutable;
// thread-safe.

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "sim/cost/cost_model.h"
#include "sim/graph/ops/work.h"
#include "sim/kernels/kernel_lookup.h"
#include "sim/profile/profile.h"

namespace strata {

class KernelCosts {
 public:
  explicit KernelCosts(const Profile& profile);

  /// `needed`: of the same shard and phase, as the kernels of the kind do it. Nothing where no
  /// table is of its kernel and data type, or none of its rows is near. The source is measured for
  /// a row's own shape, interpolated between rows of the same kernel, related where a relation
  /// stands in.
  std::optional<Cost> operator()(const ShardWork& work, Phase phase, const PhaseWork& needed,
                                 const KernelTraits& kernels) const;

 private:
  struct Entry {
    explicit Entry(const KernelTable& t) : table(t), times(table) {}
    KernelTable table;
    KernelLookup times;
  };
  /// Of a kernel in a data type.
  struct Found {
    const Entry* entry = nullptr;
    bool related = false;  ///< a table of another type, which the same units compute as fast
  };

  Found find(KernelKind kernel, DType dtype) const;
  std::optional<Cost> ask(KernelKind kernel, DType dtype, const KernelShape& shape) const;
  std::optional<Cost> opaque(const PhaseWork& needed, Phase phase, DType dtype) const;
  std::optional<Cost> product(const Gemm& gemm, Phase phase, DType dtype) const;
  std::optional<Cost> tf32_product(KernelShape shape) const;
  std::optional<Cost> attention(const ShardWork& work, Phase phase, const PhaseWork& needed) const;
  std::optional<Cost> convolution(const ShardWork& work, Phase phase,
                                  const PhaseWork& needed) const;
  std::optional<Cost> pass(const ShardWork& work, Phase phase, const PhaseWork& needed) const;
  std::optional<double> training_ratio(const KernelShape& attention, DType dtype) const;
  std::optional<double> unmasked_ratio(const KernelShape& attention, DType dtype) const;

  std::vector<std::unique_ptr<const Entry>> entries_;
  /// Types that the same units compute at the same rate as this one; of mxfp8, for want of its own
  /// rows, that with larger blocks.
  std::array<std::optional<DType>, kDTypeNames.size()> alike_;
  bool tf32_is_half_ = false;  ///< of bf16's rate, as where the same units compute both
};

}  // namespace strata
