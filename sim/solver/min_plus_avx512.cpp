// 32 registers: 24 hold the tile, 3 the row of the panel.

#ifdef __x86_64__
#define STRATA_KERNEL min_plus_avx512
#define STRATA_NAME "avx512"
#define STRATA_LANES 8
#define STRATA_ROWS 8
#define STRATA_VECTORS 3
#include "sim/solver/min_plus.inc"
#endif
