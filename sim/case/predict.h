#pragma once

// How fast is one training step of this network on these devices, cut this way? A Case and a
// Strategy to a Prediction. Thread-safe: predictions of one Case may run at once.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/case/case.h"
#include "sim/cost/eq1.h"
#include "sim/plan/lowering_memo.h"
#include "sim/plan/plan.h"
#include "sim/result/result.h"
#include "sim/strategy/strategy.h"
#include "sim/timeline/breakdown.h"
#include "sim/timeline/critical_path.h"
#include "sim/timeline/timeline.h"

namespace strata {

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
  std::vector<PathStep> path_steps;  ///< the critical path in the plan; empty where `path` is
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
