#ifdef __x86_64__
#define STRATA_LOOPS loops_avx2
#define STRATA_NAME "avx2"
#define STRATA_LANES 8
#define STRATA_WIDTH 8
#include "exec/cpu/loops.inc"
#endif
