#include "sim/cost/transfer_kernel.h"

namespace strata {

extern const TransferKernel transfer_kernel_portable;
#ifdef __x86_64__
extern const TransferKernel transfer_kernel_avx2, transfer_kernel_avx512;
#endif

const TransferKernel& transfer_kernel() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f")) return transfer_kernel_avx512;
  if (__builtin_cpu_supports("avx2")) return transfer_kernel_avx2;
#endif
  return transfer_kernel_portable;
}

}  // namespace strata
