#pragma once

// How studies reach real devices without knowing any: the main programs hand them a Runner, which
// the execution engine implements. Not thread-safe.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/base/index.h"
#include "sim/base/units.h"
#include "sim/cluster/cluster.h"
#include "sim/graph/graph.h"
#include "sim/graph/ops/phase.h"
#include "sim/graph/optimizer.h"
#include "sim/plan/plan.h"
#include "sim/profile/measured_cost.h"
#include "sim/profile/measured_move.h"
#include "sim/timeline/execution.h"

namespace strata {

/// A plan on devices that hold its parameters.
class PlanRun {
 public:
  virtual ~PlanRun() = default;
  /// Weight (weight_shape()), row-major, then bias, of the whole layer; ignored where the layer
  /// shares another's.
  virtual void set_parameters(LayerId layer, std::span<const float> whole) = 0;
  virtual std::vector<float> parameters(LayerId layer) const = 0;
  /// Summed over the batch's shards, of the last step; empty where there is none or none was kept.
  virtual std::vector<float> gradients(LayerId layer) const = 0;
  /// Steps count on from the runs before. Throws Cancelled, or an Error that names the task and the
  /// device; the run is then of no more use.
  virtual Execution run(std::size_t steps, const BatchOf& batch_of,
                        const std::atomic<bool>* cancelled) = 0;
};

/// One thing to measure: a phase of one shard of a layer, as a run would do it.
struct MeasureRequest {
  LayerId layer;
  Tile output;
  Phase phase = Phase::forward;
};

/// All that is measured of one network, in one type.
struct MeasureList {
  std::vector<MeasureRequest> shards;
  std::vector<Bytes> moves;  ///< by size
  DType dtype = DType::fp32;
  bool recorded = false;                 ///< launched as ExecutionOptions::recorded steps are
  Optimizer optimizer = Optimizer::sgd;  ///< whose updates they are
};

/// What a Measurer left out: sweeps (over a network's layers, on one device; a round has several)
/// in which the machine did something else, or was in another mood than in the others.
struct Disturbance {
  std::size_t left_out = 0, of = 0;
  /// Learned from the machine: how much longer than usual is disturbed, 0.05 for 5 %; the largest
  /// of all devices. 0 where too little was seen to say.
  double threshold = 0;

  double share() const {
    return of == 0 ? 0 : static_cast<double>(left_out) / static_cast<double>(of);
  }
  Disturbance& operator+=(const Disturbance& more) {
    left_out += more.left_out;
    of += more.of;
    threshold = std::max(threshold, more.threshold);
    return *this;
  }
  bool operator==(const Disturbance&) const = default;
};

/// Which sweeps' times count: those in which the machine did nothing else, where there are three of
/// them; or all.
enum class Sampled : std::uint8_t { calm, always };

/// A device waited for others, and went on late: microseconds after the last of them on a core of
/// its own; where other programs run on it, once it has the core again.
struct Wait {
  Seconds waited, late;
  auto operator<=>(const Wait&) const = default;
};

/// What one device took in one round.
struct DeviceRound {
  std::vector<Seconds> shards;  ///< in a MeasureList's order; means where a round runs one twice
  std::vector<Wait> waits;      ///< none where devices don't wait so
};
using RoundTimes = std::vector<DeviceRound>;  ///< by device

/// Takes times on all devices at once, one sample of everything a round, so that a caller can take
/// turns between measuring and running.
class Measurer {
 public:
  virtual ~Measurer() = default;
  /// One sample of each request and move.
  virtual void round(const std::atomic<bool>* cancelled) = 0;
  /// Medians, spreads and counts of the rounds so far.
  virtual std::vector<MeasuredCost> costs(Sampled which) const = 0;
  virtual std::vector<MeasuredMove> moves() const = 0;
  /// Of the last round. Precondition: there was one.
  virtual RoundTimes last_round() const = 0;
  virtual Disturbance disturbance() const = 0;
  /// How all this is found, for a profile's provenance.
  virtual std::string method() const = 0;
};

class Runner {
 public:
  virtual ~Runner() = default;
  /// The devices that the text names ("cpu:2"), as a cluster. Throws InputError for text that names
  /// nothing, EnvironmentError for devices that are not there.
  virtual Cluster cluster(const std::string& devices) const = 0;
  /// `plan`: lowered for that cluster. The graph and the plan must outlive what is returned.
  virtual std::unique_ptr<PlanRun> start(const std::string& devices, const Graph& graph,
                                         const Plan& plan, const ExecutionOptions& options) = 0;
  /// The graph must outlive what is returned. Throws InputError for a type that the devices lack,
  /// and where they can't record.
  virtual std::unique_ptr<Measurer> measure(const std::string& devices, const Graph& graph,
                                            MeasureList list) = 0;
  /// What this machine is, for a profile's provenance: "AMD EPYC, 2 cores, oneDNN 2.6.3".
  virtual std::string description(const std::string& devices) const = 0;
  /// What of it is of this moment: clocks, power. Empty where nothing is known.
  virtual std::string state(const std::string&) const { return ""; }
  /// Of each of the devices, where it is not the host's memory that they share.
  virtual std::optional<Bytes> own_memory(const std::string&) const { return std::nullopt; }
  /// The text that names the first `count` of the devices.
  virtual std::string first_of(const std::string& devices, std::size_t count) const {
    return devices.substr(0, devices.find(':') + 1) + std::to_string(count);
  }
  /// Whether this process is the one that reports: of several that run a plan together, all make
  /// the same calls and get the same answers.
  virtual bool leads() const { return true; }
  /// Whether it is the only one.
  virtual bool is_one_process() const { return true; }
};

}  // namespace strata
