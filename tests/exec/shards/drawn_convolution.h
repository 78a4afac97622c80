#pragma once

// Convolutions of the shapes that a library finds odd: groups, dilations, strides over paddings of
// any width, channels on both sides of a block.

#include "tests/exec/shards/random.h"
#include "tests/exec/shards/site.h"

namespace strata::shards {

/// Draws one of rank 1, 2 or 3, whole or in random parts; a site's shards of it against the
/// referee in double precision.
void expect_convolution_as_reference(Site& site, int rank, Random& random);

}  // namespace strata::shards
