#define STRATA_KERNEL transfer_kernel_avx512
#include "sim/cost/transfer_kernel.inc"
