// Registers of two doubles, which every 64-bit machine has.

#define STRATA_KERNEL min_plus_portable
#define STRATA_NAME "portable"
#define STRATA_LANES 2
#define STRATA_ROWS 4
#define STRATA_VECTORS 2
#include "sim/solver/min_plus.inc"
