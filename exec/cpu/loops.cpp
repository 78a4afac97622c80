#include "exec/cpu/loops.h"

namespace strata::cpu {

extern const Loops loops_portable;
#ifdef __x86_64__
extern const Loops loops_avx2, loops_avx512;
#endif

std::vector<const Loops*> all_loops() {
  std::vector<const Loops*> all{&loops_portable};
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") != 0) all.push_back(&loops_avx2);
  if (__builtin_cpu_supports("avx512f") != 0) all.push_back(&loops_avx512);
#endif
  return all;
}

const Loops& loops() {
  static const Loops& fastest = *all_loops().back();
  return fastest;
}

}  // namespace strata::cpu
