#pragma once

// The functions of cuDNN that are used, found at run time. Immutable; thread-safe as they are.

#include <string_view>

#include <cudnn_graph.h>

#include "exec/cuda/device/library.h"

namespace strata::cuda {

/// To make one throws EnvironmentError where the library is not there.
struct Cudnn {
  /// What a failure becomes: an EnvironmentError with the library's words. `doing`: "making a
  /// plan".
  void check(cudnnStatus_t status, std::string_view doing) const;

  Library library{kCudnn};
  decltype(cudnnGetVersion)* version = library.find("cudnnGetVersion");
  decltype(cudnnGetErrorString)* error_string = library.find("cudnnGetErrorString");
  decltype(cudnnGetLastErrorString)* last_error_string = library.find("cudnnGetLastErrorString");
  decltype(cudnnCreate)* create = library.find("cudnnCreate");
  decltype(cudnnDestroy)* destroy = library.find("cudnnDestroy");
  decltype(cudnnSetStream)* set_stream = library.find("cudnnSetStream");
  decltype(cudnnBackendCreateDescriptor)* create_descriptor =
      library.find("cudnnBackendCreateDescriptor");
  decltype(cudnnBackendDestroyDescriptor)* destroy_descriptor =
      library.find("cudnnBackendDestroyDescriptor");
  decltype(cudnnBackendSetAttribute)* set_attribute = library.find("cudnnBackendSetAttribute");
  decltype(cudnnBackendGetAttribute)* get_attribute = library.find("cudnnBackendGetAttribute");
  decltype(cudnnBackendFinalize)* finalize = library.find("cudnnBackendFinalize");
  decltype(cudnnBackendExecute)* execute = library.find("cudnnBackendExecute");
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
