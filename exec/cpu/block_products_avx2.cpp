#ifdef __x86_64__
#define STRATA_PRODUCTS block_products_avx2
#define STRATA_NAME "avx2"
#define STRATA_LANES 8
#define STRATA_WIDTH 8
#define STRATA_ROWS 6
#define STRATA_VECTORS 2
#define STRATA_TRANSPOSED_ROWS 4
#define STRATA_TRANSPOSED_VECTORS 3
#include "exec/cpu/block_products.inc"
#endif
