// What of device/check.h the products of libraries ask for, on the host that stands for GPUs.

#include "exec/cuda/device/check.h"

namespace strata::cuda {

void use_gpu(int) {}

}  // namespace strata::cuda
