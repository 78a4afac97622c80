#pragma once

// The fake Runner (fake_runner.h), whose devices can also be measured: every phase of every shard
// takes a millisecond, every move a nanosecond a byte. A round of shards takes as many times longer
// as the machine's pace says then.

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/cancel.h"
#include "sim/cluster/gpu_cluster.h"
#include "tests/sim/measure/fake_runner.h"

namespace strata::testing {

/// What every device of the machine does, however often it is asked.
struct FakeMachine {
  std::function<double()> pace = [] { return 1.0; };
  std::vector<Wait> waits;  ///< of every device in every round
  double slower = 0;        ///< each device than the one before: 0.5 for half as long again
};

class FakeMeasurer : public Measurer {
 public:
  FakeMeasurer(const FakeMachine& machine, std::size_t devices, const Graph& graph,
               MeasureList list)
      : machine_(machine),
        devices_(devices),
        shards_(list.shards.size()),
        sizes_(std::move(list.moves)) {
    for (const MeasureRequest& r : list.shards) {
      keys_.insert(cost_key(graph, r.layer, r.output, list.dtype, r.phase, list.optimizer));
    }
  }
  void round(const std::atomic<bool>* cancelled) override {
    throw_if_cancelled(cancelled);
    ++rounds_;
    if (shards_ > 0) last_ = {1e-3 * machine_.pace()};
  }
  std::vector<MeasuredCost> costs(Sampled /*which*/) const override {
    std::vector<MeasuredCost> rows;
    if (rounds_ == 0) return rows;
    for (const CostKey& key : keys_) rows.push_back({key, {1e-3}, {1e-5}, rounds_, "fake"});
    return rows;
  }
  std::vector<MeasuredMove> moves() const override {
    std::vector<MeasuredMove> rows;
    for (MoveKind kind : {MoveKind::copy, MoveKind::reduce, MoveKind::local}) {
      for (Bytes size : sizes_) {
        const double seconds = 1e-9 * static_cast<double>(size.value);
        rows.push_back({kind, size, {seconds}, {}, rounds_, "fake"});
      }
    }
    return rows;
  }
  RoundTimes last_round() const override {
    RoundTimes times;
    for (std::size_t d = 0; d < devices_; ++d) {
      const Seconds shard = last_ * (1 + machine_.slower * static_cast<double>(d));
      times.push_back({std::vector<Seconds>(shards_, shard), machine_.waits});
    }
    return times;
  }
  /// Every second sweep.
  Disturbance disturbance() const override {
    const auto rounds = static_cast<std::size_t>(rounds_);
    return {rounds / 2, rounds};
  }
  std::string method() const override { return "by fakes"; }

 private:
  const FakeMachine& machine_;
  std::size_t devices_, shards_;
  Seconds last_;
  std::set<CostKey> keys_;
  std::vector<Bytes> sizes_;
  std::int64_t rounds_ = 0;
};

/// Nothing is here but what tests look at: the types that were measured and run, and how often
/// what was measured was recorded.
struct MeasuringRunner : FakeRunner {
  std::vector<DType> measured;
  std::size_t recorded = 0;
  FakeMachine machine;

  std::unique_ptr<Measurer> measure(const std::string& devices, const Graph& graph,
                                    MeasureList list) override {
    measured.push_back(list.dtype);
    recorded += list.recorded ? 1 : 0;
    return std::make_unique<FakeMeasurer>(machine, cluster(devices).device_count(), graph,
                                          std::move(list));
  }
};

/// Whose steps on one device take what its tasks take together, at the pace that the machine has
/// then, and so many times longer as the prediction has wrong.
struct PacedRunner : MeasuringRunner {
  double wrong = 1;

  std::unique_ptr<PlanRun> start(const std::string&, const Graph& graph, const Plan& plan,
                                 const ExecutionOptions& options) override;
};

class PacedRun : public FakeRun {
 public:
  PacedRun(PacedRunner& runner, const Graph& graph, const Plan& plan,
           const ExecutionOptions& options)
      : FakeRun(runner, graph, plan, options, 0), runner_(runner), tasks_(plan.size()) {}

  Execution run(std::size_t steps, const BatchOf& batch_of,
                const std::atomic<bool>* cancelled) override {
    Execution result = FakeRun::run(steps, batch_of, cancelled);
    std::vector<Span> spans;
    Seconds now;
    for (std::size_t step = 0; step < steps; ++step) {
      const Seconds task{1e-3 * runner_.wrong * runner_.machine.pace()};
      for (std::size_t i = 0; i < tasks_; ++i, now += task) spans.push_back({now, now, now + task});
    }
    result.timeline = Timeline(tasks_, std::move(spans));
    return result;
  }

 private:
  PacedRunner& runner_;
  std::size_t tasks_;
};

inline std::unique_ptr<PlanRun> PacedRunner::start(const std::string&, const Graph& graph,
                                                   const Plan& plan,
                                                   const ExecutionOptions& options) {
  return std::make_unique<PacedRun>(*this, graph, plan, options);
}

/// "gpus:4": each device has a GPU, and a link to any other. "gpus:0/4": four share one. The
/// driver tells how warm they are.
struct FakeGpus : MeasuringRunner {
  Bytes memory{std::int64_t{1} << 40};  ///< of a GPU

  Cluster cluster(const std::string& devices) const override {
    if (devices == "gpus:mixed") {
      const std::vector<GpuDevice> mixed = {{0, "a", "f9/2"}, {0, "b", "f9/2"}, {1, "c", "f9"}};
      return gpu_cluster(devices, mixed);
    }
    std::vector<GpuDevice> all;
    const std::size_t sharing = devices_on_first(devices);
    const std::size_t count = sharing > 1 ? sharing : std::stoul(devices.substr(5));
    for (std::size_t d = 0; d < count; ++d) {
      const int gpu = sharing > 1 ? 0 : static_cast<int>(d);
      all.push_back({gpu, "gpu" + std::to_string(d), gpu_kind("NVIDIA F9", sharing)});
    }
    return gpu_cluster(devices, all);
  }
  std::string state(const std::string&) const override { return "warm"; }
  std::optional<Bytes> own_memory(const std::string& devices) const override {
    return Bytes{memory.value / static_cast<std::int64_t>(devices_on_first(devices))};
  }
  std::string first_of(const std::string& devices, std::size_t count) const override {
    const bool shared = devices.find('/') != std::string::npos;
    if (shared && count == 1) return "gpus:1";
    return (shared ? "gpus:0/" : "gpus:") + std::to_string(count);
  }

 private:
  static std::size_t devices_on_first(const std::string& devices) {
    const std::size_t at = devices.find('/');
    return at == std::string::npos ? 1 : std::stoul(devices.substr(at + 1));
  }
};

}  // namespace strata::testing
