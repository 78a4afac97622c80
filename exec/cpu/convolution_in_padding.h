#pragma once

// A shard of a convolution whose windows all lie in the padding: it reads nothing of its input, and
// its output is the bias.

#include <memory>

#include "exec/runtime/kernel.h"

namespace strata::cpu {

std::unique_ptr<Kernel> make_convolution_in_padding(const ShardSpec& spec);

}  // namespace strata::cpu
