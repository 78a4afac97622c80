// Registers of four floats, which every 64-bit machine has.

#define STRATA_PRODUCTS thin_products_portable
#define STRATA_NAME "portable"
#define STRATA_WIDTH 4
#define STRATA_SAMPLES 3
#define STRATA_VECTORS 3
#include "exec/cpu/thin_product.inc"
