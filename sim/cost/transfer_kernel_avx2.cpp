// The loops of the tables of t_X for this instruction set. Nothing on other machines.
#ifdef __x86_64__
#define STRATA_KERNEL transfer_kernel_avx2
#include "sim/cost/transfer_kernel.inc"
#endif
