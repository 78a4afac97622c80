#define STRATA_KERNEL transfer_kernel_avx2
#include "sim/cost/transfer_kernel.inc"
