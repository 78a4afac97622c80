#pragma once

// Groups whose participants sum a tensor together: one part for each device, put on all their
// streams at once. Sums are the peers' own; moments and sums of exponentials are gathered by
// everybody and then combined, in the participants' order, so that all have the same bits. Halves
// of sums are the peers' own, too. Not thread-safe.

#include <cstdint>
#include <span>
#include <vector>

#include "exec/cuda/peers/peers.h"
#include "exec/cuda/run/cuda_backend.h"
#include "exec/cuda/run/stream_work.h"
#include "sim/plan/plan.h"

namespace strata::cuda {

/// The devices of a group of collective tasks, by participant.
DeviceSet devices_of(const Plan& plan, const Group& group);

/// Whether the plan has groups of collective tasks.
bool has_collectives(const Plan& plan);

class Collectives {
 public:
  /// `peers`: all groups' devices have met. Throws InternalError where a task that waits for a
  /// participant stands before the last one of the same group, and so would come too early.
  Collectives(const Plan& plan, CudaBackend& backend, StreamWork& work, Peers* peers);

  /// The tasks of this process's devices in the group.
  std::span<const TaskId> here(std::uint32_t group) const { return here_[group]; }
  /// The parts of those, each on the stream that its device receives on.
  void perform(std::uint32_t group);
  /// They are these pieces of work, by here().
  void performed(std::uint32_t group, std::span<const Ticket> tickets);

 private:
  void check_order(const Group& group) const;
  void perform_half(std::uint32_t group);
  void combine(std::uint32_t group, std::span<const PeerPart> parts);
  std::uint32_t stream_of(TaskId id) const {
    return backend_.stream_of(plan_[id].device, plan_[id].stream);
  }

  const Plan& plan_;
  CudaBackend& backend_;
  StreamWork& work_;
  Peers* peers_;
  std::vector<std::vector<TaskId>> here_;  // by group
  std::vector<void*> gathered_;            // by here(), while one is under way; some null
};

}  // namespace strata::cuda
