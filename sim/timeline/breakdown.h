#pragma once

// Where the time of a step goes, device by device: to work, and to waiting for other devices, told
// by what the device waits for. Pure functions; thread-safe.

#include <vector>

#include "sim/plan/plan.h"
#include "sim/timeline/timeline.h"

namespace strata {

/// What a device waits for, or does itself where it has no copy engine.
struct ExposedCommunication {
  Seconds transfer;    ///< boxes of edges and their gradients
  Seconds reduce;      ///< gradients summed over replicas, on a server too
  Seconds gather;      ///< what others summed fetched, or updated parameters from a server
  Seconds statistics;  ///< statistics summed over shards
  Seconds total() const { return transfer + reduce + gather + statistics; }
  bool operator==(const ExposedCommunication&) const = default;
};

/// Of one step.
struct StepParts {
  Seconds compute;    ///< forward and backward passes
  Seconds recompute;  ///< forward passes computed again for the backward ones
  Seconds bubble;     ///< waiting for computation elsewhere, or with nothing to do
  ExposedCommunication exposed;
  Seconds optimizer;  ///< updates of parameters
  Seconds launch;     ///< waiting for the host that launches the device's next task
  Seconds total() const {
    return compute + recompute + bubble + exposed.total() + optimizer + launch;
  }
  bool operator==(const StepParts&) const = default;
};

/// The parts of each come to Timeline::step_seconds().
struct Breakdown {
  StepParts mean;                  ///< over all devices
  std::vector<StepParts> devices;  ///< by DeviceId; in a plan by classes, of all
  bool operator==(const Breakdown&) const = default;
};

/// Per step, in the steady window (Timeline::steady_time). While a device is idle, it waits for
/// what its next task waits for: that chain of tasks, each begun when the one before it ended, is
/// followed back through the idle time. Time under a task of the chain that communicates is exposed
/// communication; what passes between the end of one and when the next is ready is the launch of
/// that; all other is bubble. What comes after a device's last task is followed back from
/// the end of the last step. A device without tasks has a bubble alone.
Breakdown breakdown(const Plan& plan, const Timeline& timeline);
/// The same of a stretch of time, `window.steps` long: each device's parts come to one of these.
Breakdown breakdown(const Plan& plan, const Timeline& timeline, const SteadyTime& window);
/// Adds `times` as much as the other's.
void add(const Breakdown& other, double times, Breakdown& to);

}  // namespace strata
