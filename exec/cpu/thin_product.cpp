#include "exec/cpu/thin_product.h"

namespace strata::cpu {

extern const ThinProducts thin_products_portable;
#ifdef __x86_64__
extern const ThinProducts thin_products_avx2, thin_products_avx512;
#endif

std::vector<const ThinProducts*> all_thin_products() {
  std::vector<const ThinProducts*> all{&thin_products_portable};
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) {
    all.push_back(&thin_products_avx2);
  }
  if (__builtin_cpu_supports("avx512f") != 0) all.push_back(&thin_products_avx512);
#endif
  return all;
}

const ThinProducts& thin_products() {
  static const ThinProducts& fastest = *all_thin_products().back();
  return fastest;
}

}  // namespace strata::cpu
