#include "exec/cpu/block_products.h"

namespace strata::cpu {

extern const BlockProducts block_products_portable;
#ifdef __x86_64__
extern const BlockProducts block_products_avx2, block_products_avx512;
#endif

std::vector<const BlockProducts*> all_block_products() {
  std::vector<const BlockProducts*> all{&block_products_portable};
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) {
    all.push_back(&block_products_avx2);
  }
  if (__builtin_cpu_supports("avx512f") != 0) all.push_back(&block_products_avx512);
#endif
  return all;
}

const BlockProducts& block_products() {
  static const BlockProducts& fastest = *all_block_products().back();
  return fastest;
}

}  // namespace strata::cpu
