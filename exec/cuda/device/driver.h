#pragma once

// Functions of CUDA's driver that its runtime does not have. They are found at run time: a program
// that is linked to the driver does not start where there is none. Thread-safe.

#include <string>

#include <cuda.h>

namespace strata::cuda {

/// function = the driver's, as CUDA `version` (12040 is 12.4) has it; null where it is not there.
template <class Function>
void find_in_driver(Function*& function, const char* name, unsigned version);

/// "operation not supported (CUDA_ERROR_NOT_SUPPORTED)".
std::string words_for(CUresult status);

/// The address of a function, or null.
void* driver_function(const char* name, unsigned version);

template <class Function>
void find_in_driver(Function*& function, const char* name, unsigned version) {
  function = reinterpret_cast<Function*>(driver_function(name, version));
}

}  // namespace strata::cuda
