#pragma once

// The functions of NCCL that are used, found at run time. Immutable; thread-safe as they are.

#include <string_view>

#include <nccl.h>

#include "exec/cuda/device/library.h"

namespace strata::cuda {

/// To make one throws EnvironmentError where the library is not there.
struct Nccl {
  /// What a failure becomes: an EnvironmentError with the library's words, and with its last ones
  /// of this communicator (null: of any). `doing`: "summing".
  void check(ncclResult_t status, std::string_view doing, ncclComm_t communicator = nullptr) const;

  Library library{kNccl};
  decltype(ncclGetVersion)* version = library.find("ncclGetVersion");
  decltype(ncclGetErrorString)* error_string = library.find("ncclGetErrorString");
  decltype(ncclGetLastError)* last_error = library.find("ncclGetLastError");
  decltype(ncclGetUniqueId)* unique_id = library.find("ncclGetUniqueId");
  decltype(ncclCommInitRank)* join = library.find("ncclCommInitRank");
  decltype(ncclCommDestroy)* destroy = library.find("ncclCommDestroy");
  decltype(ncclCommAbort)* abort = library.find("ncclCommAbort");
  decltype(ncclCommGetAsyncError)* async_error = library.find("ncclCommGetAsyncError");
  decltype(ncclGroupStart)* group_start = library.find("ncclGroupStart");
  decltype(ncclGroupEnd)* group_end = library.find("ncclGroupEnd");
  decltype(ncclAllReduce)* all_reduce = library.find("ncclAllReduce");
  decltype(ncclAllGather)* all_gather = library.find("ncclAllGather");
  decltype(ncclReduceScatter)* reduce_scatter = library.find("ncclReduceScatter");
  decltype(ncclReduce)* reduce = library.find("ncclReduce");
  decltype(ncclBroadcast)* broadcast = library.find("ncclBroadcast");
  decltype(ncclSend)* send = library.find("ncclSend");
  decltype(ncclRecv)* receive = library.find("ncclRecv");
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
