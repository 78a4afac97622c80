#pragma once

// The first study: how fast is one training step of this network on these devices, cut this way?
// Inputs by name (as the command line gives them) to a loaded Case; a Case and a Strategy to a
// Prediction. What the command line and the desktop program both call. Thread-safe: predictions
// of one Case may run at once.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/cost/eq1.h"
#include "sim/graph/graph.h"
#include "sim/graph/optimizer.h"
#include "sim/plan/lowering_memo.h"
#include "sim/plan/plan.h"
#include "sim/profile/profile.h"
#include "sim/result/result.h"
#include "sim/simulate/simulate.h"
#include "sim/strategy/schedule.h"
#include "sim/strategy/strategy.h"
#include "sim/timeline/breakdown.h"
#include "sim/timeline/critical_path.h"
#include "sim/timeline/timeline.h"

namespace strata {

/// The name of no framework at all.
inline constexpr std::string_view kNoFramework = "none";

/// Keys and values of --set (what_ifs()), in order; docs/clusters.md says what each changes.
using WhatIfs = std::vector<std::pair<std::string, std::string>>;

/// Whether ops of an .onnx file that are not read are errors or opaque ones (op.h).
enum class Unsupported : std::uint8_t { refuse, opaque };

struct CaseRequest {
  std::string model;                  ///< a zoo name or a file
  std::string cluster;                ///< a preset's name or a file
  std::optional<std::int64_t> batch;  ///< global; else batch_per_device x devices
  std::int64_t batch_per_device = 32;
  GradientSync sync = {SyncAlgorithm::ring, kUsualBucket};
  DType dtype = DType::fp32;
  std::optional<GradientType> gradients;  ///< of parameters; as parameters where not said
  Optimizer optimizer = Optimizer::sgd;
  std::optional<std::int64_t> micro_batch;  ///< samples of a round for each data-parallel group
  std::string schedule;                     ///< a ScheduleKind, a file, or the usual one
  Recompute recompute = Recompute::none;
  std::string framework = std::string(kNoFramework);  ///< a name or a file (framework.h)
  std::vector<std::string> profiles;  ///< files that stand in for the shipped profile of their kind
  WhatIfs sets;
  Unsupported unsupported = Unsupported::refuse;

  bool operator==(const CaseRequest&) const = default;
};

inline constexpr std::int64_t kMostMicroBatches = 100'000;

/// A batch that is cut in time.
struct MicroBatches {
  std::int64_t batch = 1;    ///< samples of a step
  std::int64_t samples = 1;  ///< of a round, for each data-parallel group
};

/// Everything about a prediction but the strategy.
struct Case {
  Graph graph;  ///< of the whole batch, or of one round (in_rounds(), rounds.h)
  Cluster cluster;
  GradientSync sync = {};
  DTypes dtypes = {};
  std::vector<std::shared_ptr<const CostModel>> models;  ///< by device
  Optimizer optimizer = Optimizer::sgd;
  Products products = Products::apart;
  Runtime runtime = {};
  bool gathers_again = false;  ///< LowerOptions::gathers_again
  Exchanges exchanges = Exchanges::pairwise;
  std::optional<MicroBatches> cut = {};  ///< that is yet to be made, of any graph of the network
  std::uint32_t rounds = 1;              ///< each of which has the graph's batch
  ScheduleChoice schedule = {};
  Recompute recompute = Recompute::none;  ///< of strategies that do not say it themselves
  std::string framework = std::string(kNoFramework);  ///< as which it was loaded

  std::int64_t batch() const { return cut ? cut->batch : graph.batch() * rounds; }
};

/// The same case where the kernels of each device work otherwise.
void change_kernels(Case& input, const std::function<void(KernelTraits&)>& change);
/// The kernels of all devices; where they differ, of each that which keeps less.
KernelTraits kernels_of(const Case& input);
ComputeSettings compute_settings(const Case& input);

/// Throws InputError for anything that is not there or does not fit.
Case load_case(const CaseRequest& request);

/// One for each device of the cluster: from a file of `profiles`, or the shipped one of its kind.
/// Throws InputError where there is none.
std::vector<std::shared_ptr<const CostModel>> load_cost_models(
    const Cluster& cluster, const std::vector<std::string>& profiles);

/// A preset's name or a file, changed.
Cluster load_cluster(const std::string& cluster, const WhatIfs& changes);

/// As load_network() (network.h), without what the file has beside it.
Graph load_model(const std::string& model, std::int64_t batch,
                 Unsupported unsupported = Unsupported::refuse);

/// Which devices a prediction's plan and timeline tell of: all, or one of each class of devices
/// that do the same at the same time, and of many rounds so many that the others repeat them
/// (round_period.h). The step is the same; what is asked of large clusters is not.
enum class Simulated : std::uint8_t { all_devices, one_of_each_class };

/// What several predictions of one case share of what they work out. Thread-safe.
struct CaseMemo {
  /// The case must outlive this.
  explicit CaseMemo(const Case& input)
      : lowering(input.graph, input.cluster), costs(input.graph, compute_settings(input)) {}

  LoweringMemo lowering;
  LayerCosts costs;
};

struct PredictOptions {
  std::size_t steps = 4;
  Simulated devices = Simulated::all_devices;
  bool all_rounds = false;         ///< also where others repeat them, of one of each class
  bool all_steps = true;           ///< else the timeline may have the first ones alone
  bool record_link_rates = false;  ///< for traces: of all steps, then
  bool critical_path = true;       ///< else Prediction::path is empty
  bool memory = true;              ///< else Prediction::peak_memory is empty
  bool eq1 = true;                 ///< else Prediction::terms is empty
  bool breakdown = false;          ///< else Prediction::breakdown is empty
  CaseMemo* memo = nullptr;        ///< of the case
  const std::atomic<bool>* cancelled = nullptr;  ///< looked at between the parts of a prediction,
                                                 ///< and in the long ones (sim/base/cancel.h)
  /// Of the plan (LowerOptions): of more, predict() throws TooManyTasks.
  std::size_t most_tasks = std::numeric_limits<std::size_t>::max();
};

struct Prediction {
  Strategy strategy;
  Plan plan;
  std::vector<Cost> costs;  ///< by task
  Timeline timeline;
  Seconds step;                   ///< the steady-state time between steps
  Seconds makespan;               ///< of all steps, in the timeline or not
  std::vector<LayerTerms> terms;  ///< Eq. 1, by layer
  Communication communication;
  CostSources sources;
  std::vector<Bytes> peak_memory;  ///< by device
  PathShares path;
  /// Those of the plan and the timeline may be fewer, with one of each class of devices, where the
  /// others repeat them.
  std::uint32_t rounds = 1;
  RepeatedRounds repeated;
  Breakdown breakdown;

  Seconds step_seconds() const { return step; }
  Seconds eq1_seconds() const { return total(terms); }
  /// Of the device that needs the most.
  Bytes largest_peak() const { return *std::max_element(peak_memory.begin(), peak_memory.end()); }
};

/// A plan for an executor, which needs every box by itself however many there are, and keeps
/// parameters and their gradients in fp32 whatever the dtype. `input`: in_rounds().
Plan lower_to_run(const Case& input, const Strategy& strategy);

/// The step's time where every task takes its own, drawn from its measured spread (jitter.h).
struct Jitter {
  std::uint64_t seed = 1;
  std::size_t steps = 100;
};
struct JitteredSteps {
  Seconds p50, p95;  ///< of the steady steps
};
JitteredSteps predict_jitter(const Case& input, const Prediction& prediction, const Jitter& jitter);

/// The strategy, computing again what the case says where it says nothing of that itself.
Strategy with_recomputation(const Case& input, const Strategy& strategy);

/// Throws Cancelled once it is called off.
Prediction predict(const Case& input, const Strategy& strategy, const PredictOptions& options = {});

/// The memory of the device that a training may use.
Bytes memory_capacity(const Case& input, DeviceId device);
/// That of the device that has the least.
Bytes least_memory_capacity(const Case& input);

/// A device that needs more memory at its peak than it has.
struct Shortage {
  DeviceId device;
  Bytes needed, capacity;
  bool operator==(const Shortage&) const = default;
};
/// The one that lacks the most; nothing where all have what they need. `peaks`: by device, as
/// Prediction::peak_memory.
std::optional<Shortage> shortage(const Case& input, std::span<const Bytes> peaks);
/// "gpu0 needs 90.00 GB of memory, a100 has 80.00 GB".
std::string shortage_text(const Case& input, const Shortage& shortage);

/// What its columns say of the case itself, and of its prediction.
CaseResult result_of(const Case& input);
CaseResult result_of(const Case& input, const Prediction& prediction);

// What was found of a case, into a result that says its batch.
void add_communication(const Communication& communication, CaseResult& result);
void add_step(Seconds step, const Communication& communication, Bytes peak, CaseResult& result);
void add_prediction(const Prediction& prediction, CaseResult& result);

}  // namespace strata
