#pragma once

// The functions of cuDNN that are used, found at run time. Immutable; thread-safe as they are.

#include <string_view>

#include <cudnn_graph.h>

#include "exec/cuda/device/library.h"

namespace strata::cuda {

struct Cudnn {
  /// Throws EnvironmentError where the library is not there.
  Cudnn();

  /// What a failure becomes: an EnvironmentError with the library's words. `doing`: "making a
  /// plan".
  void check(cudnnStatus_t status, std::string_view doing) const;

  Library library{kCudnn};
  decltype(cudnnGetVersion)* version = nullptr;
  decltype(cudnnGetErrorString)* error_string = nullptr;
  decltype(cudnnGetLastErrorString)* last_error_string = nullptr;
  decltype(cudnnCreate)* create = nullptr;
  decltype(cudnnDestroy)* destroy = nullptr;
  decltype(cudnnSetStream)* set_stream = nullptr;
  decltype(cudnnBackendCreateDescriptor)* create_descriptor = nullptr;
  decltype(cudnnBackendDestroyDescriptor)* destroy_descriptor = nullptr;
  decltype(cudnnBackendSetAttribute)* set_attribute = nullptr;
  decltype(cudnnBackendGetAttribute)* get_attribute = nullptr;
  decltype(cudnnBackendFinalize)* finalize = nullptr;
  decltype(cudnnBackendExecute)* execute = nullptr;
};

/// What was asked for is sound, but the library (or this engine of it) can't do it.
constexpr bool is_unsupported(cudnnStatus_t status) {
  return CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_NOT_SUPPORTED;
}
/// An engine could not be run here: its launch was refused, say. Others may run.
constexpr bool failed_to_run(cudnnStatus_t status) {
  return CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_EXECUTION_FAILED;
}

}  // namespace strata::cuda
