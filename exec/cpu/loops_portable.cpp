// Registers of four floats, which every 64-bit machine has.

#define STRATA_LOOPS loops_portable
#define STRATA_NAME "portable"
#define STRATA_LANES 8
#define STRATA_WIDTH 4
#include "exec/cpu/loops.inc"
