#pragma once

// `strata run`: trains a network for real, cut by a strategy, on the devices of a Runner. On
// request also on one device, to see that both computed the same; and over a test set. Not
// thread-safe, as a Runner is not.

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/error.h"
#include "sim/case/predict.h"
#include "sim/case/weights.h"
#include "sim/measure/runner.h"
#include "sim/measure/search_costs.h"
#include "sim/strategy/search_space.h"
#include "sim/train/check.h"
#include "sim/train/train.h"

namespace strata {

/// Of an optimizer's constants those that are asked for; the others are the usual ones.
struct AskedConstants {
  std::optional<double> beta1, beta2, epsilon, weight_decay;
};
/// Throws InputError for one that the optimizer does not have, or that is out of range.
OptimizerConstants constants_of(Optimizer optimizer, const AskedConstants& asked);

struct RunRequest {
  /// Of devices that are there: without a cluster, framework or what-ifs. CPUs run fp32 alone. With
  /// profiles, the run is predicted, too.
  CaseRequest input = {};
  std::string devices;   ///< as the Runner names them: "cpu:2"
  std::string strategy;  ///< data, model, owt, optimal or a .json file
  SearchOptions space;   ///< of optimal
  /// How optimal gets costs without profiles: it measures what nobody has measured here.
  std::optional<CostKeeping> costs;
  std::size_t steps = 10;
  /// First steps that are not timed, fewer than the steps; without it 1, of a single step 0.
  std::optional<std::size_t> warmup;
  double learning_rate = 0.01;
  AskedConstants constants;
  std::uint64_t seed = 0;           ///< of initial weights, synthetic data and dropout
  std::string data;                 ///< a folder (dataset.h); empty: synthetic
  std::string test_data;            ///< a folder, or empty
  std::string weights;              ///< a folder to start from; empty: starting_weights()
  bool saves_weights = false;       ///< whoever asked writes them (weights.h) when it is done
  bool check = false;               ///< compare with one device (check.h)
  std::optional<double> tolerance;  ///< of the check: allow this, whatever rounding does
  bool serial = false;              ///< as ExecutionOptions have them; of GPUs
  bool recorded = false;            ///< not on the one device of a comparison
  bool task_times = true;           ///< whether TrainedSteps::last tells them; the same
  /// Refuse what needs more, for devices that are this machine's cores; else what is free now.
  std::optional<Bytes> memory;
};

/// Over a whole test set, each sample once.
struct TestResult {
  double accuracy = 0, loss = 0;
  std::int64_t samples = 0;
};

struct RunReport {
  Graph graph;
  Cluster cluster;
  Strategy strategy;
  Plan plan;
  TrainedSteps trained;
  NetworkWeights weights;  ///< after the last step; none where it was called off
  std::optional<TestResult> test;
  std::optional<Check> check;
  std::optional<Timeline> predicted;
  std::optional<CostsUsed> costs = {};   ///< of the search and the prediction
  std::vector<std::string> doubts = {};  ///< about the prediction (cost_warnings.h)
  std::vector<std::string> notes = {};   ///< about the network (network.h)
  std::string schedule = {};             ///< schedule_used()

  double throughput() const {
    return static_cast<double>(graph.batch()) / trained.times.median.value;
  }
};

/// The stage before the training: costs are measured, and its steps are rows of them.
inline constexpr std::string_view kMeasuringCosts = "measuring costs";

/// What is being done ("training"), and how far it is: steps done, of how many, the last loss,
/// where there is one.
struct RunProgress {
  std::string_view stage;
  std::size_t steps = 0, of = 0;
  double loss = 0;
};

/// Throws InputError for a request that is not sound, EnvironmentError where memory or devices
/// lack, Cancelled where it was called off before there was anything to report, and the errors of
/// the Runner.
RunReport run(Runner& runner, const RunRequest& request,
              const std::atomic<bool>* cancelled = nullptr,
              const std::function<void(const RunProgress&)>& progress = {});

}  // namespace strata
