#ifdef __x86_64__
#define STRATA_PRODUCTS thin_products_avx2
#define STRATA_NAME "avx2"
#define STRATA_WIDTH 8
#define STRATA_SAMPLES 3
#define STRATA_VECTORS 3
#include "exec/cpu/thin_product.inc"
#endif
