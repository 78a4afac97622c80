#pragma once

// The functions of NCCL that are used, found at run time. Immutable; thread-safe as they are.

#include <string_view>

#include <nccl.h>

#include "exec/cuda/device/library.h"

namespace strata::cuda {

struct Nccl {
  /// Throws EnvironmentError where the library is not there.
  Nccl();

  /// What a failure becomes: an EnvironmentError with the library's words, and with its last ones
  /// of this communicator (null: of any). `doing`: "summing".
  void check(ncclResult_t status, std::string_view doing, ncclComm_t communicator = nullptr) const;

  Library library{kNccl};
  decltype(ncclGetVersion)* version = nullptr;
  decltype(ncclGetErrorString)* error_string = nullptr;
  decltype(ncclGetLastError)* last_error = nullptr;
  decltype(ncclGetUniqueId)* unique_id = nullptr;
  decltype(ncclCommInitRank)* join = nullptr;
  decltype(ncclCommDestroy)* destroy = nullptr;
  decltype(ncclCommAbort)* abort = nullptr;
  decltype(ncclCommGetAsyncError)* async_error = nullptr;
  decltype(ncclGroupStart)* group_start = nullptr;
  decltype(ncclGroupEnd)* group_end = nullptr;
  decltype(ncclAllReduce)* all_reduce = nullptr;
  decltype(ncclAllGather)* all_gather = nullptr;
  decltype(ncclSend)* send = nullptr;
  decltype(ncclRecv)* receive = nullptr;
};

/// What is called while one lives begins together, at end(): a process that has several GPUs calls
/// for each, and none waits for the next.
class NcclGroup {
 public:
  explicit NcclGroup(const Nccl& nccl);
  /// Ends it where an error kept end() from being called.
  ~NcclGroup();
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;
  void end(std::string_view doing);

 private:
  const Nccl& nccl_;
  bool open_ = true;
};

}  // namespace strata::cuda
