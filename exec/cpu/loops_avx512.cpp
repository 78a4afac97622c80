#ifdef __x86_64__
#define STRATA_LOOPS loops_avx512
#define STRATA_NAME "avx512"
#define STRATA_LANES 16
#define STRATA_WIDTH 16
#include "exec/cpu/loops.inc"
#endif
