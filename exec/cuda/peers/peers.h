#pragma once

// What GPUs do together: they sum values, gather them, and send them to one another. Two bodies are
// linked to it: NCCL (peers_nccl.cpp), and the host that stands for GPUs, whose streams meet
// (tests/exec/cuda/host_peers.cpp).
//
// Devices are those of a plan, each with a GPU to itself. Either all of them are this process's, or
// one is and the others are those of its peers, who make the same calls in the same order.
//
// All takes place later, in the order of the streams. No part of a sum or of a gathering ends
// before all have begun, and no sending before its receiving has: so whoever puts such parts on
// streams must do it in one order for all devices (run/stream_run.h says why that is enough).
// Throws EnvironmentError with the library's own words. Not thread-safe.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "exec/cuda/device/device.h"
#include "exec/runtime/ranks.h"
#include "sim/base/index.h"
#include "sim/geometry/geometry.h"

namespace strata::cuda {

using DeviceSet = std::vector<DeviceId>;  ///< in an order that all of them know

/// One device's part in what several do.
struct PeerPart {
  DeviceId device;
  Stream* stream = nullptr;
  float* values = nullptr;  ///< its own
  float* all = nullptr;     ///< of a gathering: where everybody's go, in the order of the set; of a
                            ///< scattering: where its own part of the sum goes
};

class Peers {
 public:
  /// `gpus`: by device. `ranks`: null where this process has all devices; must outlive it.
  Peers(std::span<const int> gpus, const Ranks* ranks);
  ~Peers();
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  /// Lets the devices of a set work together from now on; takes its time, and memory of the GPUs.
  /// All ranks call it, also those who are not in the set.
  void meet(const DeviceSet& set);

  // `parts`: of this process's devices of a set that has met, in the set's order.
  /// values = the sum of everybody's `count` values.
  void sum(const DeviceSet& set, std::span<const PeerPart> parts, std::int64_t count);
  /// all = everybody's `count` values.
  void gather(const DeviceSet& set, std::span<const PeerPart> parts, std::int64_t count);

  // `intervals`: everybody's part of the values, in the set's order, one after another.
  /// all = the device's part of the sum of everybody's values; may lie in `values` where that part
  /// does.
  void scatter(const DeviceSet& set, std::span<const PeerPart> parts,
               std::span<const Interval> intervals);
  /// all = everybody's part, whose own is `values`; which may lie there already.
  void gather_parts(const DeviceSet& set, std::span<const PeerPart> parts,
                    std::span<const Interval> intervals);

  // From this process's device to a peer's of a set that has met, and back.
  void send(const DeviceSet& set, DeviceId to, const void* from, std::int64_t bytes,
            Stream& stream);
  void receive(const DeviceSet& set, DeviceId from, void* to, std::int64_t bytes, Stream& stream);

  /// Throws where something that streams do has failed, or can't come to an end any more.
  void check();
  /// Where this process has failed: its streams wait for no peer any more, and what they do
  /// together comes to nothing. Nothing may be asked of it afterwards.
  void abandon() noexcept;

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

}  // namespace strata::cuda
