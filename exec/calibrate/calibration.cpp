#include "exec/calibrate/calibration.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>

#include "exec/calibrate/move_times.h"
#include "exec/calibrate/samples.h"
#include "exec/calibrate/shard_bench.h"
#include "exec/calibrate/spin_probe.h"
#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "sim/base/quantile.h"

namespace strata {
namespace {

// The median of fewer ratios says as much of the things themselves as of the machine.
constexpr std::size_t kManyTimes = 16;

/// A shard's shape, with the phases that are asked for.
struct Shape {
  LayerId layer;
  Box output;
  std::vector<Phase> phases;
  std::vector<CostKey> keys;  // by phase
};

class Calibration : public Measurer {
 public:
  Calibration(std::unique_ptr<Backend> backend, const Graph& graph,
              const std::vector<MeasureRequest>& requests, std::vector<Bytes> move_sizes,
              std::string source)
      : backend_(std::move(backend)),
        graph_(graph),
        source_(std::move(source)),
        moves_(*backend_, std::move(move_sizes)),
        meet_(static_cast<std::ptrdiff_t>(backend_->device_count())) {
    for (const MeasureRequest& request : requests) add(request);
    plan_sweeps();
    benches_.resize(backend_->device_count());
    probes_.resize(backend_->device_count());
  }

  void round(const std::atomic<bool>* cancelled) override {
    work_on_all(cancelled);
    ++round_;
    if (error_) std::rethrow_exception(error_);
    throw_if_cancelled(cancelled);
  }

  std::vector<MeasuredCost> costs(Sampled which) const override {
    std::vector<MeasuredCost> rows;
    const std::vector<double> pace = paces();
    for (const auto& [key, samples] : samples_) {
      const Summary s = samples.summary(which, pace);
      rows.push_back({key, s.median, s.spread, s.count, source_});
    }
    return rows;
  }
  std::vector<MeasuredMove> moves() const override { return moves_.rows(source_); }
  Disturbance disturbance() const override { return disturbance_; }

 private:
  using Times = std::vector<std::pair<const CostKey*, Seconds>>;

  void add(const MeasureRequest& request) {
    CostKey key = cost_key(graph_, request.layer, request.output, DType::fp32, request.phase);
    if (!asked_.emplace(request.layer, key).second) return;
    samples_.try_emplace(key);
    // The phases of one shape run one after another, as in a step. Layers of equal shape are all
    // run, so that a sweep is as long as a step.
    CostKey shape = key;
    shape.phase = Phase::forward;
    const auto [at, fresh] =
        by_shape_.try_emplace(std::pair(request.layer, std::move(shape)), shapes_.size());
    if (fresh) shapes_.push_back({request.layer, request.output, {}, {}});
    shapes_[at->second].phases.push_back(request.phase);
    shapes_[at->second].keys.push_back(std::move(key));
  }

  // Sweep k takes every layer's k-th shape: about a step's work between two uses of anything, so
  // that caches hold what they would hold in a step.
  void plan_sweeps() {
    std::map<LayerId, std::vector<std::size_t>> by_layer;
    std::size_t most = 0;
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      auto& list = by_layer[shapes_[i].layer];
      list.push_back(i);
      most = std::max(most, list.size());
    }
    for (std::size_t k = 0; k < most; ++k) {
      auto& sweep = sweeps_.emplace_back();
      for (const auto& [layer, list] : by_layer) sweep.push_back(list[k % list.size()]);
    }
  }

  // Where a thread can't be had, those that were must not wait for it.
  void work_on_all(const std::atomic<bool>* cancelled) {
    std::vector<std::jthread> threads;
    threads.reserve(backend_->device_count());
    try {
      for (std::size_t d = 0; d < backend_->device_count(); ++d) {
        threads.emplace_back([this, d, cancelled] { work(DeviceId(d), cancelled); });
      }
    } catch (const std::exception& error) {
      const std::lock_guard lock(mutex_);
      error_ = std::make_exception_ptr(EnvironmentError(error.what()));
      for (std::size_t d = threads.size(); d < backend_->device_count(); ++d) {
        meet_.arrive_and_drop();
      }
    }
  }

  void work(DeviceId device, const std::atomic<bool>* cancelled) {
    try {
      backend_->enter(device);
      for (std::size_t k = 0; k < sweeps_.size(); ++k) {
        if (!go_on(cancelled)) return meet_.arrive_and_drop();
        sweep(device, k, cancelled);
      }
      if (!go_on(cancelled)) return meet_.arrive_and_drop();
      moves_.round(device, meet_, cancelled);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      meet_.arrive_and_drop();
    }
  }

  bool go_on(const std::atomic<bool>* cancelled) {
    const std::lock_guard lock(mutex_);
    return !error_ && !is_set(cancelled);
  }

  // What a kernel does once (choosing and compiling its code, finding memory) is not what it costs:
  // the first sweep with new benches does not count, and tells the probe how fast a core is.
  void sweep(DeviceId device, std::size_t k, const std::atomic<bool>* cancelled) {
    const std::vector<std::size_t>& list = sweeps_[k];
    SpinProbe& probe = probes_[device()];
    if (make_benches(device, list, cancelled)) {
      take(device, list, cancelled);
      probe.undisturbed();
    }
    bool calm = probe.undisturbed();
    const Times times = take(device, list, cancelled);
    calm = probe.undisturbed() && calm;
    keep(times, round_ * sweeps_.size() + k, calm);
  }

  // Whether there were new ones.
  bool make_benches(DeviceId device, const std::vector<std::size_t>& list,
                    const std::atomic<bool>* cancelled) {
    auto& benches = benches_[device()];
    const std::size_t before = benches.size();
    for (std::size_t i : list) {
      if (benches.contains(i)) continue;
      throw_if_cancelled(cancelled);
      benches[i] = std::make_unique<ShardBench>(*backend_, device, graph_, shapes_[i].layer,
                                                shapes_[i].output);
    }
    return benches.size() > before;
  }

  // Forward and back through the network.
  Times take(DeviceId device, const std::vector<std::size_t>& list,
             const std::atomic<bool>* cancelled) {
    Times times;
    auto& benches = benches_[device()];
    for (std::size_t i : list) run(*benches[i], shapes_[i], true, times, cancelled);
    for (std::size_t k = list.size(); k-- > 0;) {
      run(*benches[list[k]], shapes_[list[k]], false, times, cancelled);
      benches[list[k]]->end();
    }
    return times;
  }

  // All devices do the same at the same time, as replicas do: they share the memory's bandwidth.
  // And all end at the same layer where they are called off; the measurer is then of no more use.
  void run(ShardBench& bench, const Shape& shape, bool forward, Times& times,
           const std::atomic<bool>* cancelled) {
    forward ? bench.begin_forward() : bench.begin_backward();
    meet_.arrive_and_wait();
    throw_if_cancelled(cancelled);
    for (Phase phase : ShardBench::phases(forward)) {
      for (std::size_t k = 0; k < shape.phases.size(); ++k) {
        if (shape.phases[k] == phase) times.emplace_back(&shape.keys[k], bench.time(phase));
      }
    }
  }

  void keep(const Times& times, std::size_t sweep, bool calm) {
    const std::lock_guard lock(mutex_);
    disturbance_ += {calm ? std::size_t{0} : std::size_t{1}, 1};
    for (const auto& [key, seconds] : times) samples_[*key].add({seconds.value, sweep, calm});
  }

  // How many times longer than its median a thing took in each sweep; of all things, and on all
  // devices, the median.
  std::vector<double> paces() const {
    std::vector<std::vector<double>> ratios((round_ + 1) * sweeps_.size());
    for (const auto& [key, samples] : samples_) {
      const double median = samples.summary(Sampled::always).median.value;
      for (const Sample& sample : samples.all()) {
        if (median > 0) ratios[sample.sweep].push_back(sample.seconds / median);
      }
    }
    std::vector<double> paces;
    for (std::vector<double>& sweep : ratios) {
      std::sort(sweep.begin(), sweep.end());
      const double pace = sweep.size() < kManyTimes ? 1 : quantile(sweep, 0.5);
      paces.push_back(pace > 0 ? pace : 1);
    }
    return paces;
  }

  std::unique_ptr<Backend> backend_;
  const Graph& graph_;
  std::string source_;
  std::vector<Shape> shapes_;
  std::set<std::pair<LayerId, CostKey>> asked_;
  std::map<std::pair<LayerId, CostKey>, std::size_t> by_shape_;
  std::vector<std::vector<std::size_t>> sweeps_;
  std::vector<std::map<std::size_t, std::unique_ptr<ShardBench>>> benches_;  // by device
  std::vector<SpinProbe> probes_;                                            // by device
  MoveTimes moves_;
  std::size_t round_ = 0;
  std::barrier<> meet_;
  mutable std::mutex mutex_;  // the members below
  std::map<CostKey, Samples> samples_;
  Disturbance disturbance_;
  std::exception_ptr error_;
};

}  // namespace

std::unique_ptr<Measurer> calibrate(std::unique_ptr<Backend> backend, const Graph& graph,
                                    const std::vector<MeasureRequest>& requests,
                                    std::vector<Bytes> move_sizes, std::string source) {
  return std::make_unique<Calibration>(std::move(backend), graph, requests, std::move(move_sizes),
                                       std::move(source));
}

}  // namespace strata
