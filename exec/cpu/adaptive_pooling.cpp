#include "exec/cpu/kernels.h"
#include "exec/cpu/pool.h"

namespace strata::cpu {
namespace {

// Cell i of O takes [floor(i S / O), ceil((i+1) S / O)) of the whole extent S.
PoolDim pool_dim(const ShardSpec& spec, Dim dim) {
  const std::int64_t extent = (*spec.graph)[(*spec).inputs[0]].output[dim];
  const std::int64_t cells = (*spec).output[dim];
  const Interval held = spec.inputs[0][0][dim];
  PoolDim result(1, held.size());
  for (std::int64_t i = spec.output[dim].begin; i < spec.output[dim].end; ++i) {
    const Interval taps = {i * extent / cells - held.begin,
                           ((i + 1) * extent + cells - 1) / cells - held.begin};
    result.add(taps, taps.size());
  }
  return result;
}

}  // namespace

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const AdaptivePooling& op) {
  return make_pool(op.mode,
                   {pool_dim(spec, Dim::d), pool_dim(spec, Dim::h), pool_dim(spec, Dim::w)});
}

}  // namespace strata::cpu
