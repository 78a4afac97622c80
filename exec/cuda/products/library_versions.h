#pragma once

// Which libraries the kernels are from.

#include <string>

namespace strata::cuda {

/// "cuDNN 9.19.0, cuBLAS 13.1.0, NCCL 2.28.9"; "no NCCL" for one that is not there. Thread-safe.
std::string library_versions();

}  // namespace strata::cuda
