#pragma once

// `strata validate`: does the prediction hold? For each model on 1 to D devices: shard costs are
// measured, strategies are predicted from them and run for real, taking turns, so that the
// machine's moods fall on all alike. Each step meets the prediction of the sweeps beside it, and
// the error is the median over such pairs (paired_error.h). A prediction rests on single shards,
// never on a strategy's step. Not thread-safe, as a Runner is not.

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.h"
#include "sim/case/predict.h"
#include "sim/measure/calibrate.h"
#include "sim/measure/runner.h"
#include "sim/profile/profile.h"
#include "sim/search/asked_strategy.h"
#include "sim/study/validate/paired_error.h"
#include "sim/timeline/compare.h"
#include "sim/timeline/execution.h"

namespace strata {

/// Since some moment.
Seconds steady_now();

struct ValidateRequest {
  std::vector<std::string> models;  ///< zoo names or files, of different names
  OpenDims dims = {};               ///< of each of them
  std::string devices = "cpu:2";    ///< as the Runner names them
  bool each_count = true;           ///< also on each smaller number, the first of them
  Training training = {};  ///< the same batch on every number of devices; rounds divide alike
  std::vector<AskedStrategy> strategies = {"data", "model", "owt", "optimal"};
  bool recorded = false;   ///< steps are played from a recording, shards measured alike; of GPUs
  std::size_t rounds = 9;  ///< of measuring and running in turns: as many pairs
  /// Instead of rounds: as many as fit into this time, for each model on each number of devices;
  /// one at least.
  std::optional<Seconds> seconds;
  double limit = 0.1;                         ///< which errors are such that a prediction holds
  std::function<Seconds()> now = steady_now;  ///< a clock that never goes back
  std::string date;                           ///< ISO, for the profile's provenance
  std::string command;                        ///< the same
  std::optional<Bytes> memory;  ///< that is free; else what the system or the Runner says
};

struct ValidateCase {
  std::string model;
  int devices = 0;
  std::int64_t batch = 0;
  std::string strategy;
  Seconds predicted, measured;  ///< medians over the pairs
  Seconds profile, eq1;         ///< simulated, and by Eq. 1, from the medians of all sweeps
  PairedError error;
  Judgement verdict = Judgement::too_few;
  std::vector<Seconds> turns;    ///< the mean of each turn's steps that count
  Seconds spread;                ///< of the steady steps: half the distance between their quartiles
  std::size_t samples = 0;       ///< steps measured
  Seconds round;                 ///< what a round of all its model's strategies took
  Communication planned, moved;  ///< of a step; the mean of the last turn's
  bool moved_as_planned = true;  ///< to the byte, in every turn
  std::optional<PlainLoops> plain_loops = {};  ///< of the strategy's own kernels; of GPUs alone
  /// By layer and task, of each task's medians over the first sixteen pairs.
  std::vector<ErrorRow> errors;
  // What was predicted and run, and both timelines of a pair whose error is about the median.
  Graph graph;
  Cluster cluster;
  Plan plan;
  Timeline predicted_timeline, measured_timeline;

  double relative_error() const { return error.median; }
};

struct ValidateReport {
  std::vector<ValidateCase> cases;  ///< of the first model first, on few devices first
  double limit = 0.1;               ///< as it was asked for
  Profile profile;                  ///< of all models, as measured on the most devices
  Disturbance disturbance;
  bool stopped = false;  ///< called off: cases are of fewer rounds, or missing

  /// How many cases the measurement tells something of.
  std::size_t judged_cases() const;
  /// Over those cases; where there are none, over all.
  double mean_absolute_error() const;
  double max_absolute_error() const;
  /// The case with the largest error of those that are judged, else of all. Precondition: there is
  /// a case.
  const ValidateCase& worst_case() const;

  /// Off where a case is off, else what keeps one from being judged, else that all hold.
  Judgement verdict() const;
  /// What it takes to judge every case, by how far its pairs scatter: rounds, and the time of all
  /// of them. None where all are judged.
  struct More {
    std::size_t rounds = 0;
    Seconds seconds;
  };
  std::optional<More> to_judge() const;
  /// Pairs whose order was measured: see rank_agreement().
  std::size_t ranked_pairs() const;
  /// The share of pairs of strategies, of the same model on as many devices, that the profile, by
  /// which a search goes, orders as they were measured. Strategies take turns, so they are compared
  /// turn by turn: where the interval of the median ratio (paired_error.h) does not lie wholly
  /// beyond 1 %, the order was not measured, and the pair is left out. 1 where no pair is left.
  double rank_agreement() const;
  /// Whether no strategy was faster (in that sense) than the one that is the fastest by the
  /// profile, for each model on each number of devices.
  bool fastest_first() const;
};

/// Called off, it gives the cases that have a pair. Throws InputError for a request that is not
/// sound, EnvironmentError where memory lacks, what Runner and its parts throw, and Cancelled where
/// no case has a pair.
ValidateReport validate(Runner& runner, const ValidateRequest& request,
                        const std::atomic<bool>* cancelled = nullptr,
                        const std::function<void(const MeasureProgress&)>& progress = {});

}  // namespace strata
