#include "exec/calibrate/threaded_calibration.h"

#include <algorithm>
#include <thread>

#include "exec/calibrate/spin_probe.h"
#include "exec/calibrate/usual_times.h"
#include "sim/base/cancel.h"
#include "sim/base/error.h"

namespace strata {
namespace {

constexpr int kFirstSpins = 16;  // from which a device learns how long one usually takes

}  // namespace

ThreadedCalibration::ThreadedCalibration(std::shared_ptr<Backend> backend, const Graph& graph,
                                         const MeasureList& list, const CalibrateOptions& options)
    : backend_(std::move(backend)),
      graph_(graph),
      source_(options.source),
      sweeps_(graph, list),
      optimizer_(list.optimizer),
      benches_(backend_->device_count()),
      spins_(backend_->device_count()),
      moves_(*backend_, list.moves, options),
      meet_(backend_->device_count(), backend_->has_own_cores()),
      last_(backend_->device_count()) {}

std::string ThreadedCalibration::method() const {
  return "Medians over rounds that take one sample of every shape and size, on all devices at "
         "once. Of shards' times, sweeps beside which a loop of known length took longer than it "
         "usually does on the device are left out, where three others remain.";
}

void ThreadedCalibration::round(const std::atomic<bool>* cancelled) {
  last_.begin();
  work_on_all(cancelled);
  ++round_;
  if (error_) std::rethrow_exception(error_);
  throw_if_cancelled(cancelled);
}

// Where a thread can't be had, those that were must not wait for it.
void ThreadedCalibration::work_on_all(const std::atomic<bool>* cancelled) {
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
      meet_.leave();
    }
  }
}

void ThreadedCalibration::work(DeviceId device, const std::atomic<bool>* cancelled) {
  try {
    backend_->enter(device);
    for (std::size_t k = 0; k < sweeps_.all().size(); ++k) {
      if (!go_on(cancelled)) return meet_.leave();
      sweep(device, k, cancelled);
    }
    if (!go_on(cancelled)) return meet_.leave();
    moves_.round(device, meet_, cancelled);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::current_exception();
    meet_.leave();
  }
}

bool ThreadedCalibration::go_on(const std::atomic<bool>* cancelled) {
  const std::lock_guard lock(mutex_);
  return !error_ && !is_set(cancelled);
}

// What a kernel does once (choosing and compiling its code, finding memory) is not what it costs:
// the first sweep with new benches does not count.
void ThreadedCalibration::sweep(DeviceId device, std::size_t k,
                                const std::atomic<bool>* cancelled) {
  const Sweep& list = sweeps_.all()[k];
  if (make_benches(device, list, cancelled)) take(device, list, cancelled);
  std::vector<double>& spins = spins_[device()].seconds;
  while (spins.size() < kFirstSpins) spins.push_back(spin().value);
  const Seconds before = spin();
  const Times times = take(device, list, cancelled);
  const Seconds after = spin();
  spins.insert(spins.end(), {before.value, after.value});
  keep(device, times, round_ * sweeps_.all().size() + k, std::max(before, after));
}

// Whether there were new ones.
bool ThreadedCalibration::make_benches(DeviceId device, const Sweep& sweep,
                                       const std::atomic<bool>* cancelled) {
  auto& benches = benches_[device()];
  const std::size_t before = benches.size();
  for (std::size_t i : sweep) {
    if (benches.contains(i)) continue;
    throw_if_cancelled(cancelled);
    benches[i] = std::make_unique<ShardBench>(*backend_, device, graph_, sweeps_[i].layer,
                                              sweeps_[i].output, optimizer_);
  }
  return benches.size() > before;
}

// Forward and back through the network.
ThreadedCalibration::Times ThreadedCalibration::take(DeviceId device, const Sweep& sweep,
                                                     const std::atomic<bool>* cancelled) {
  Times times;
  auto& benches = benches_[device()];
  for (std::size_t i : sweep) run(*benches[i], sweeps_[i], true, times, cancelled);
  for (std::size_t k = sweep.size(); k-- > 0;) {
    run(*benches[sweep[k]], sweeps_[sweep[k]], false, times, cancelled);
    benches[sweep[k]]->end();
  }
  return times;
}

// All devices do the same at the same time, as replicas do: they share the memory's bandwidth.
// And all end at the same layer where they are called off; the measurer is then of no more use.
void ThreadedCalibration::run(ShardBench& bench, const Shape& shape, bool forward, Times& times,
                              const std::atomic<bool>* cancelled) {
  forward ? bench.begin_forward() : bench.begin_backward();
  if (const auto wait = meet_.arrive_and_wait()) times.waits.push_back(*wait);
  throw_if_cancelled(cancelled);
  for (Phase phase : ShardBench::phases(forward)) {
    for (std::size_t k = 0; k < shape.phases.size(); ++k) {
      if (shape.phases[k] != phase) continue;
      times.shards.emplace_back(&shape.keys[k], backend_->time([&] { bench.run(phase); }));
    }
  }
}

void ThreadedCalibration::keep(DeviceId device, const Times& times, std::size_t sweep,
                               Seconds spun) {
  const std::lock_guard lock(mutex_);
  spins_[device()].longest[sweep] = spun.value;
  for (const auto& [key, seconds] : times.shards) {
    record_.add(*key, {seconds.value, sweep, device()});
    last_.add(device(), key, seconds);
  }
  for (const Wait& wait : times.waits) last_.add_wait(device(), wait);
}

std::vector<MeasuredCost> ThreadedCalibration::costs(Sampled which) const {
  std::vector<double> most;
  for (const Spins& spins : spins_) most.push_back(usual_times(spins.seconds).most);
  Record judged = record_;
  judged.judge([&](const Sample& sample) {
    return spins_[sample.device].longest.at(sample.sweep) <= most[sample.device];
  });
  return judged.rows(which, source_);
}

Disturbance ThreadedCalibration::disturbance() const {
  Disturbance all;
  for (const Spins& spins : spins_) {
    const UsualTimes usual = usual_times(spins.seconds);
    const auto slow = std::ranges::count_if(
        spins.longest, [&](const auto& sweep) { return sweep.second > usual.most; });
    all += {static_cast<std::size_t>(slow), spins.longest.size(), usual.threshold()};
  }
  return all;
}

}  // namespace strata
