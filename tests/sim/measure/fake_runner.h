#pragma once

// A Runner whose devices compute nothing: what a training does can be foretold from its data.

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "sim/cluster/cpu_cluster.h"
#include "sim/measure/runner.h"

namespace strata::testing {

struct FakeRunner;

/// Step k takes 10 + k milliseconds, all tasks at once, and its host a tenth of that; one of a
/// recording takes 1, and is neither of the first two nor its run's last. The loss is the mean
/// label; label 0 is right. Every training step takes the learning rate off every parameter;
/// gradients are 1.
class FakeRun : public PlanRun {
 public:
  FakeRun(FakeRunner& runner, const Graph& graph, const Plan& plan, const ExecutionOptions& options,
          std::size_t ordinal)
      : runner_(runner),
        graph_(graph),
        plan_(plan),
        options_(options),
        parameters_(graph.size()),
        ordinal_(ordinal) {}

  void set_parameters(LayerId layer, std::span<const float> whole) override {
    parameters_[layer()].assign(whole.begin(), whole.end());
  }
  std::vector<float> parameters(LayerId layer) const override;
  std::vector<float> gradients(LayerId layer) const override {
    return std::vector<float>(parameters_[layer()].size(), options_.keep_gradients ? 1.0F : 0.0F);
  }
  Execution run(std::size_t steps, const BatchOf& batch_of,
                const std::atomic<bool>* cancelled) override;

 private:
  bool is_cut() const { return plan_.placement(LayerId(1)).devices.size() > 1; }

  FakeRunner& runner_;
  const Graph& graph_;
  const Plan& plan_;
  ExecutionOptions options_;
  std::vector<std::vector<float>> parameters_;
  std::uint64_t done_ = 0;
  std::size_t ordinal_;
};

struct FakeRunner : Runner {
  std::string wrong_layer;             ///< whose parameters a cut gets wrong
  Bytes lost;                          ///< that a step moves less than the plan says
  std::size_t cancel_after = 0;        ///< steps of a run; 0: never
  std::size_t cancel_run = 99;         ///< the run, from 0, that is called off at once
  std::size_t fail_run = 99;           ///< the run, from 0, whose device fails
  std::optional<Bytes> own;            ///< memory of each device
  std::optional<PlainLoops> loops;     ///< as a GPU's run tells of them
  bool issues = false;                 ///< tells of the host's time, as a GPU's run does
  std::vector<std::size_t> pieces;     // of all runs
  std::vector<std::uint64_t> batches;  // their numbers, by step
  std::vector<ExecutionOptions> starts;
  std::vector<Optimizer> optimizers;  ///< of the plans, by start

  Cluster cluster(const std::string& devices) const override {
    const int cores = devices.starts_with("cpu:") ? std::atoi(devices.c_str() + 4) : 0;
    if (cores < 1) throw InputError("no devices '" + devices + "'; allowed: cpu:N");
    return cpu_cluster(cores);
  }
  std::unique_ptr<PlanRun> start(const std::string&, const Graph& graph, const Plan& plan,
                                 const ExecutionOptions& options) override {
    starts.push_back(options);
    optimizers.push_back(plan.optimizer());
    return std::make_unique<FakeRun>(*this, graph, plan, options, starts.size() - 1);
  }
  std::unique_ptr<Measurer> measure(const std::string&, const Graph&, MeasureList) override {
    return nullptr;
  }
  std::string description(const std::string&) const override { return "fake"; }
  std::optional<Bytes> own_memory(const std::string&) const override { return own; }
};

inline std::vector<float> FakeRun::parameters(LayerId layer) const {
  std::vector<float> values = parameters_[layer()];
  if (is_cut() && graph_[layer].name == runner_.wrong_layer) {
    for (float& value : values) value *= 1.5F;
  }
  return values;
}

inline Execution FakeRun::run(std::size_t steps, const BatchOf& batch_of,
                              const std::atomic<bool>* cancelled) {
  if (runner_.fail_run == ordinal_) throw EnvironmentError("cpu0: out of memory");
  runner_.pieces.push_back(steps);
  Execution result;
  if (options_.recorded) result.played = {done_ == 0 ? 2u : 0u, steps - 1};
  std::vector<Span> spans;
  Seconds now;
  for (std::size_t k = 0; k < steps; ++k, ++done_) {
    if (is_set(cancelled) || runner_.cancel_run == ordinal_ ||
        (runner_.cancel_after > 0 && done_ >= runner_.cancel_after)) {
      throw Cancelled{};
    }
    const Batch batch = batch_of(done_);
    runner_.batches.push_back(batch.number);
    const Seconds taken{result.played.contains(k) ? 0.001
                                                  : 0.010 + 0.001 * static_cast<double>(done_)};
    if (runner_.issues) result.issue.push_back(taken / 10);
    const Seconds end = now + taken;
    spans.insert(spans.end(), plan_.size(), Span{now, now, end});
    now = end;
    const auto sum = std::accumulate(batch.labels.begin(), batch.labels.end(), std::int64_t{0});
    result.losses.push_back(static_cast<double>(sum) / static_cast<double>(batch.labels.size()));
    result.correct.push_back(std::count(batch.labels.begin(), batch.labels.end(), 0));
    for (auto& parameters : parameters_) {
      for (float& value : parameters) value -= options_.learning_rate;
    }
  }
  result.plain_loops = runner_.loops;
  const Communication planned = communication(plan_);
  const auto times = static_cast<std::int64_t>(steps);
  result.moved = {planned.transfer * times, (planned.sync - runner_.lost) * times, {7 * times}};
  result.timeline = Timeline(plan_.size(), std::move(spans));
  return result;
}

}  // namespace strata::testing
