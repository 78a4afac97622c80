#include "exec/calibrate/queued_calibration.h"

#include <algorithm>
#include <chrono>

#include "sim/base/cancel.h"

namespace strata {
namespace {

// Of a device's memory: what a sweep may hold at once, and what benches may keep between sweeps.
// The rest is for what kernels work in, and for the runs that are measured beside this.
constexpr std::int64_t kSweepPart = 2, kLastingPart = 5;
// Short sweeps are cheap: a round takes several samples, as long as they last no longer together.
constexpr double kLongSeconds = 0.4;
constexpr std::size_t kMostSamples = 4;

// As many as a loss could ask for.
std::vector<std::int64_t> labels_of(const Graph& graph) {
  std::int64_t most = graph.batch();
  for (const Layer& layer : graph.layers()) {
    if (is_loss(layer.op)) most = std::max(most, volume(layer.output) / layer.output[Dim::c]);
  }
  return std::vector<std::int64_t>(static_cast<std::size_t>(most));
}

}  // namespace

QueuedCalibration::QueuedCalibration(std::shared_ptr<Backend> backend, const Graph& graph,
                                     const MeasureList& list, CalibrateOptions options)
    : backend_(std::move(backend)),
      graph_(graph),
      options_(std::move(options)),
      watch_(backend_->stopwatch(options_.recorded)),
      sweeps_(graph, list),
      optimizer_(list.optimizer),
      labels_(labels_of(graph)),
      moves_(*backend_, list.moves, options_),
      last_(backend_->device_count()) {
  cut_sweeps();
}

// Whatever ended a round, nothing may go while devices use it.
QueuedCalibration::~QueuedCalibration() {
  try {
    backend_->finish();
  } catch (...) {  // said by who waited for the work
  }
}

std::string QueuedCalibration::method() const {
  const std::string launched =
      options_.recorded
          ? "What is asked of a layer is recorded as a graph and played, as steps of a run with "
            "--graph are, "
          : "A stream begins what it is asked of a layer when all of that is in its queue, ";
  return "Medians over rounds that take samples of every shape and size, on all devices at once, "
         "by events on their streams. " +
         launched +
         "so no time has the host's in it. Of shards' times, sweeps in which things took longer "
         "than they usually do are left out, where three others remain.";
}

void QueuedCalibration::cut_sweeps() {
  if (!options_.memory) return;
  const auto held = [&](const Shape& shape) {
    return ShardBench::bytes_of_step(*backend_, graph_, shape.layer, shape.output);
  };
  sweeps_.cut(held, {options_.memory->value / kSweepPart});
}

void QueuedCalibration::round(const std::atomic<bool>* cancelled) {
  spin_up(cancelled);
  last_.begin();
  for (const Sweep& sweep : sweeps_.all()) measure(sweep, cancelled);
  moves_.round(*watch_, cancelled);
}

// Devices that had nothing to do since the last round get something first, which does not count.
void QueuedCalibration::spin_up(const std::atomic<bool>* cancelled) {
  using Clock = std::chrono::steady_clock;
  if (!sweeps_.all().empty()) make_benches(sweeps_.all().front(), cancelled);
  const auto begin = Clock::now();
  const double wanted = spun_ ? 0 : options_.spin_up.value;
  do {
    if (sweeps_.all().empty()) {
      moves_.warm_up(cancelled);
    } else {
      take(sweeps_.all().front(), false, cancelled);
    }
    backend_->finish();
  } while (std::chrono::duration<double>(Clock::now() - begin).count() < wanted);
  spun_ = true;
}

// What a kernel does once (finding memory, loading its code) is not what it costs: the first sweep
// with new benches does not count. One that did not wait to be let go counts where there is none
// that did.
void QueuedCalibration::measure(const Sweep& sweep, const std::atomic<bool>* cancelled) {
  if (make_benches(sweep, cancelled)) take(sweep, false, cancelled);
  double spent = 0, longest = 0;
  Times late;
  bool any_held = false;
  for (std::size_t k = 0; k < kMostSamples && spent + longest <= kLongSeconds; ++k) {
    Times times = take(sweep, true, cancelled);
    const double of_first = total_of(times, 0);
    longest = std::max(longest, of_first);
    spent += of_first;
    any_held = any_held || watch_->held();
    watch_->held() ? keep(times) : std::swap(late, times);
  }
  if (!any_held) keep(late);
  drop_passing(sweep);
}

// Of one device.
double QueuedCalibration::total_of(const Times& times, std::size_t device) {
  double total = 0;
  for (const Time& time : times) total += time.device == device ? time.seconds.value : 0;
  return total;
}

// Whether there were new ones.
bool QueuedCalibration::make_benches(const Sweep& sweep, const std::atomic<bool>* cancelled) {
  bool fresh = false;
  for (std::size_t i : sweep) {
    Bench& bench = benches_[i];
    if (!bench.of_device.empty()) continue;
    throw_if_cancelled(cancelled);
    bench.lasting = may_last(sweeps_[i]);
    for (std::size_t d = 0; d < backend_->device_count(); ++d) {
      backend_->enter(DeviceId(d));
      bench.of_device.push_back(std::make_unique<ShardBench>(
          *backend_, DeviceId(d), graph_, sweeps_[i].layer, sweeps_[i].output, optimizer_));
    }
    fresh = true;
  }
  return fresh;
}

// First come, first kept: the same ones in each round.
bool QueuedCalibration::may_last(const Shape& shape) {
  const Bytes more = ShardBench::lasting_bytes(graph_, shape.layer, shape.output, optimizer_);
  if (options_.memory && lasting_ + more > Bytes{options_.memory->value / kLastingPart}) {
    return false;
  }
  lasting_ += more;
  return true;
}

void QueuedCalibration::drop_passing(const Sweep& sweep) {
  for (std::size_t i : sweep) {
    if (const auto at = benches_.find(i); at != benches_.end() && !at->second.lasting) {
      benches_.erase(at);
    }
  }
}

// Forward and back through the network. `held`: no device begins a layer before it was asked for
// all of it; not where somebody has to wait for the device, to find memory.
QueuedCalibration::Times QueuedCalibration::take(const Sweep& sweep, bool held,
                                                 const std::atomic<bool>* cancelled) {
  begin_step();
  Times times;
  const auto layer = [&](std::size_t shape, bool forward) {
    throw_if_cancelled(cancelled);
    const std::unique_ptr<Held> hold = held ? std::make_unique<Held>(*watch_) : nullptr;
    ask(shape, forward, times);
  };
  for (std::size_t i : sweep) layer(i, true);
  for (std::size_t k = sweep.size(); k-- > 0;) layer(sweep[k], false);
  const std::vector<Seconds> seconds = watch_->read();
  for (std::size_t i = 0; i < times.size(); ++i) times[i].seconds = seconds[i];
  return times;
}

void QueuedCalibration::ask(std::size_t i, bool forward, Times& times) {
  const Shape& shape = sweeps_[i];
  for (std::size_t d = 0; d < backend_->device_count(); ++d) {
    backend_->enter(DeviceId(d));
    ShardBench& bench = *benches_.at(i).of_device[d];
    forward ? bench.begin_forward() : bench.begin_backward();
    for (Phase phase : ShardBench::phases(forward)) {
      const auto asked = std::find(shape.phases.begin(), shape.phases.end(), phase);
      if (asked == shape.phases.end()) continue;
      watch_->time(DeviceId(d), [&] { bench.run(phase); });
      times.push_back({&shape.keys[static_cast<std::size_t>(asked - shape.phases.begin())], d, {}});
    }
    if (!forward) bench.end();
  }
}

void QueuedCalibration::begin_step() {
  StepContext context{0, 0, labels_};
  context.optimizer = optimizer_;
  context.constants = traits(optimizer_).usual;
  for (std::size_t d = 0; d < backend_->device_count(); ++d) {
    backend_->enter(DeviceId(d));
    backend_->begin_step(DeviceId(d), context);
  }
}

void QueuedCalibration::keep(const Times& times) {
  for (const Time& time : times) {
    record_.add(*time.key, {time.seconds.value, taken_, time.device});
    last_.add(time.device, time.key, time.seconds);
  }
  ++taken_;
}

std::vector<MeasuredCost> QueuedCalibration::costs(Sampled which) const {
  Record judged = record_;
  judged.judge_by_pace();
  return judged.rows(which, options_.source);
}

// A sweep is one on each device.
Disturbance QueuedCalibration::disturbance() const {
  Record judged = record_;
  const Disturbance sweeps = judged.judge_by_pace();
  return {sweeps.left_out * backend_->device_count(), sweeps.of * backend_->device_count(),
          sweeps.threshold};
}

}  // namespace strata
