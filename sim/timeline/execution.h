#pragma once

// What it takes to run a plan for real, beside the plan, and what comes of it. Values.

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/graph/batch.h"
#include "sim/plan/plan.h"
#include "sim/timeline/timeline.h"

namespace strata {

/// Which of a shard's tensors.
enum class TensorRole : std::uint8_t {
  parameters,          ///< as its forward finds them
  output,              ///< as its forward leaves it
  output_gradient,     ///< the sum of what all readers give back, as its backward finds it
  parameter_gradients  ///< the sum over all replicas, as its update finds it
};
inline constexpr std::array<std::string_view, 4> kTensorRoleNames = {
    "parameters", "output", "output gradient", "parameter gradients"};
constexpr std::string_view name(TensorRole role) {
  return kTensorRoleNames[static_cast<std::size_t>(role)];
}

/// A tensor of a step, in one of its rounds; parameters and their gradients are of all: 0.
struct TensorKey {
  TensorRole role = TensorRole::output;
  LayerId layer;
  std::uint32_t round = 0;
  auto operator<=>(const TensorKey&) const = default;
};

/// Sees the tensors of all shards while a plan runs: what they hold when a task finds or leaves
/// them, before another task works in the same memory. Called by the threads of all devices.
class TensorObserver {
 public:
  virtual ~TensorObserver() = default;
  /// `values`: of the shard's box, row-major; of parameters weight, then bias, of its channels. The
  /// run goes on with what it writes to them, where it returns true.
  virtual bool see(const TensorKey& tensor, std::uint32_t shard, std::span<float> values) = 0;
};

/// How a plan is run. By which rule it updates, the plan says (Plan::optimizer()).
struct ExecutionOptions {
  float learning_rate = 0.01F;
  std::optional<OptimizerConstants> constants = {};  ///< else the usual ones of its rule
  std::uint64_t seed = 0;                            ///< of the dropout masks
  bool training = true;         ///< false: steps end with the loss, and dropout passes everything
  bool keep_gradients = false;  ///< of the parameters, of each run's last step
  bool serial = false;          ///< on a GPU of several devices: one task at a time
  bool recorded = false;        ///< a step is recorded once and played again; GPUs alone can
  /// Whether the timeline tells when each task was at work. Else it may know the ends of steps
  /// alone, where that is cheaper: all of a step's tasks seem to be at its end.
  bool task_times = true;
  TensorObserver* observer = nullptr;  ///< of plain steps; must outlive the run
};

/// The data of each step, counted from 0 over all runs of one executor.
using BatchOf = std::function<Batch(std::uint64_t step)>;

/// Steps [begin, end) of a run.
struct StepRange {
  std::size_t begin = 0, end = 0;
  bool contains(std::size_t step) const { return begin <= step && step < end; }
};

/// Convolutions that no library's engine computes but plain loops: right, and slow.
struct PlainLoops {
  std::int64_t products = 0;  ///< a shard's convolution in one direction is one
  std::string first_status;   ///< what the library said of the first; empty where there is none
  bool operator==(const PlainLoops&) const = default;
};

/// Bytes are those that were copied between devices, counted as they were copied.
struct Execution {
  Timeline timeline;
  StepRange played;                   ///< steps from a recording: only their ends were measured
  std::vector<double> losses;         ///< by step: the mean over the batch
  std::vector<std::int64_t> correct;  ///< by step: samples whose label has the largest logit
  Communication moved;                ///< in all steps
  std::optional<PlainLoops> plain_loops = {};  ///< of all kernels until now; of GPUs alone
  /// By step: the host's time to put this process's tasks in the queues of its devices, with what
  /// it waited for room there. None where a device's own thread does its tasks.
  std::vector<Seconds> issue = {};
};

}  // namespace strata
