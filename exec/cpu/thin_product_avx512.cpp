#ifdef __x86_64__
#define STRATA_PRODUCTS thin_products_avx512
#define STRATA_NAME "avx512"
#define STRATA_WIDTH 16
#define STRATA_SAMPLES 6
#define STRATA_VECTORS 5
#include "exec/cpu/thin_product.inc"
#endif
