#include "sim/study/case/framework.h"

namespace strata {
namespace {

// Megatron-LM of 2021 to 2023: PyTorch's eager kernels, an attention that writes its scores, all
// gradients of a data-parallel group summed at once behind the last backward pass. The launches are
// fitted to profiles/published/megatron-a100.toml.
void run_as_megatron(Case& input) {
  change_kernels(input, [](KernelTraits& kernels) {
    kernels.fused_attention = false;
    kernels.keeps_masks = true;
  });
  merge_products(input, true);
  if (input.sync.bucket == kUsualBucket) input.sync.bucket = kOneBucket;
  input.runtime.sums = PartialSums::all_reduced;
  input.runtime.launches = {{83e-6}, {3e-6}, {0}, {11e-6}, {200e-6}, true};
}

}  // namespace

void run_as(Framework framework, Case& input) {
  switch (framework) {
    case Framework::none:
      return;
    case Framework::megatron:
      return run_as_megatron(input);
  }
}

}  // namespace strata
