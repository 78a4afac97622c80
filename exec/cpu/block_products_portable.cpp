// Registers of four floats, which every 64-bit machine has, two to a block.

#define STRATA_PRODUCTS block_products_portable
#define STRATA_NAME "portable"
#define STRATA_LANES 8
#define STRATA_WIDTH 8
#define STRATA_ROWS 3
#define STRATA_VECTORS 2
#define STRATA_TRANSPOSED_ROWS 4
#define STRATA_TRANSPOSED_VECTORS 1
#include "exec/cpu/block_products.inc"
