#ifdef __x86_64__
#define STRATA_PRODUCTS block_products_avx512
#define STRATA_NAME "avx512"
#define STRATA_LANES 16
#define STRATA_WIDTH 16
#define STRATA_ROWS 14
#define STRATA_VECTORS 2
#define STRATA_TRANSPOSED_ROWS 8
#define STRATA_TRANSPOSED_VECTORS 3
#include "exec/cpu/block_products.inc"
#endif
