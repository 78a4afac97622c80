#pragma once

// Transfers and sums between devices that don't reach one another's memory: no path between their
// GPUs, or another process has the other one. A transfer's boxes are packed one after another in
// the sender's memory, travel as one, and are unpacked in the receiver's; a sum over replicas
// fetches the parts first. Plain values travel as they lie.
//
// Each function puts its work on the stream that the caller entered. Staging memory is taken there,
// and given back with the pieces of work that use it last. Not thread-safe.

#include <cstdint>
#include <vector>

#include "exec/cuda/peers/peers.h"
#include "exec/cuda/run/cuda_backend.h"
#include "exec/cuda/run/stream_work.h"
#include "sim/plan/plan.h"

namespace strata::cuda {

/// Memory of a device that is on its way.
struct Staged {
  DeviceId device;
  void* memory = nullptr;
  std::int64_t bytes = 0;
  bool lent = false;  ///< is a buffer's, which nobody gives back here
};

class Crossing {
 public:
  /// `peers`: null where no device is another process's; else all devices have met, as `everybody`.
  Crossing(const Plan& plan, CudaBackend& backend, StreamWork& work, Peers* peers);

  /// Whether the task needs this.
  bool concerns(TaskId id) const { return concerned_[id()]; }
  /// Of a transfer.
  DeviceId sender(TaskId id) const;

  /// On a stream of the sender's.
  Staged pack(TaskId id);
  void send(TaskId id, const Staged& packed, Stream& stream);
  /// On the receiver's, whose memory the result is.
  Staged fetch(TaskId id, const Staged& packed, Stream& stream);
  Staged receive(TaskId id, Stream& stream);
  void unpack(TaskId id, const Staged& arrived);
  /// All of a reduce task; returns what it fetched.
  Staged reduce(TaskId id, Stream& stream);
  void give_back(const Staged& staged, Ticket last_user);

 private:
  bool is_apart(TaskId id) const;
  bool lies_whole(const Piece& piece) const;
  std::int64_t bytes_of(TaskId id) const;
  bool carries_values(TaskId id) const;
  Staged take(DeviceId device, std::int64_t bytes);
  Staged arriving(TaskId id);

  const Plan& plan_;
  CudaBackend& backend_;
  StreamWork& work_;
  Peers* peers_;
  DeviceSet everybody_;
  std::vector<bool> concerned_;  // by task
};

}  // namespace strata::cuda
