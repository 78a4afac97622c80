// 16 registers: 12 hold the tile, 2 the row of the panel.

#ifdef __x86_64__
#define STRATA_KERNEL min_plus_avx2
#define STRATA_NAME "avx2"
#define STRATA_LANES 4
#define STRATA_ROWS 6
#define STRATA_VECTORS 2
#include "sim/solver/min_plus.inc"
#endif
