#define STRATA_KERNEL transfer_kernel_portable
#include "sim/cost/transfer_kernel.inc"
