#include "exec/calibrate/move_times.h"

#include <algorithm>
#include <array>

#include "sim/base/cancel.h"

namespace strata {
namespace {

constexpr int kQueuedSamples = 4;

std::vector<DeviceId> next_devices(std::size_t count) {
  std::vector<DeviceId> next;
  for (std::size_t d = 0; d < count; ++d) next.emplace_back((d + 1) % count);
  return next;
}

}  // namespace

MoveTimes::MoveTimes(Backend& backend, const std::vector<Bytes>& sizes,
                     const CalibrateOptions& options)
    : backend_(backend),
      reads_(options.copies.empty() ? next_devices(backend.device_count()) : options.copies),
      from_(backend.device_count()),
      to_(backend.device_count()) {
  list_moves(sizes, options.sums);
  if (!moves_.empty()) take_memory();
}

void MoveTimes::list_moves(const std::vector<Bytes>& sizes, bool sums) {
  const bool alone = backend_.device_count() == 1;
  for (Bytes size : sizes) {
    if (!alone) moves_.push_back({MoveKind::copy, size});
    if (!alone && sums) moves_.push_back({MoveKind::reduce, size});
    moves_.push_back({MoveKind::local, size});
  }
}

void MoveTimes::take_memory() {
  const auto largest = std::max_element(moves_.begin(), moves_.end(),
                                        [](auto& a, auto& b) { return a.bytes < b.bytes; });
  for (std::size_t d = 0; d < from_.size(); ++d) {
    // This thread is none of the devices that have threads.
    if (backend_.is_asynchronous()) backend_.enter(DeviceId(d));
    for (float** memory : {&from_[d], &to_[d]}) {
      *memory = static_cast<float*>(backend_.allocate(DeviceId(d), largest->bytes.value));
      backend_.fill_values(*memory, largest->count());
    }
  }
}

MoveTimes::~MoveTimes() {
  for (std::size_t d = 0; d < from_.size(); ++d) {
    if (from_[d] == nullptr) continue;
    backend_.release(DeviceId(d), from_[d]);
    backend_.release(DeviceId(d), to_[d]);
  }
}

void MoveTimes::fill(DeviceId device, const Move& move) {
  backend_.fill_values(from_[device()], move.count());
}

void MoveTimes::run(DeviceId device, const Move& move) {
  float* const own = to_[device()];
  const DeviceId owner = move.kind == MoveKind::local ? device : reads_[device()];
  const float* const other = from_[owner()];
  if (move.kind != MoveKind::reduce) return backend_.copy_values(own, other, move.count());
  const std::array<const float*, 2> parts = {own, other};
  const std::array<std::int64_t, 2> counts = {1, 1};
  backend_.combine(Combination::sum, own, parts, counts, 0, move.count());
}

void MoveTimes::round(DeviceId device, Meeting& meet, const std::atomic<bool>* cancelled) {
  if (moves_.empty()) return;
  meet.arrive_and_wait();
  for (const Move& move : moves_) {
    fill(device, move);
    meet.arrive_and_wait();
    throw_if_cancelled(cancelled);
    const Seconds seconds = backend_.time([&] { run(device, move); });
    meet.arrive_and_wait();
    const std::lock_guard lock(mutex_);
    samples_[{move.kind, move.bytes.value}].add({seconds.value});
  }
}

// What did not wait to be let go does not count, but where a round would have nothing.
void MoveTimes::round(Stopwatch& watch, const std::atomic<bool>* cancelled) {
  for (const Move& move : moves_) {
    bool any_held = false;
    for (int k = 0; k < kQueuedSamples; ++k) {
      throw_if_cancelled(cancelled);
      const std::vector<Seconds> times = all_at_once(move, watch);
      any_held = any_held || watch.held();
      if (!watch.held() && (any_held || k + 1 < kQueuedSamples)) continue;
      for (Seconds seconds : times) {
        samples_[{move.kind, move.bytes.value}].add({seconds.value});
      }
    }
  }
}

// Each reads what its neighbour has written whole.
std::vector<Seconds> MoveTimes::all_at_once(const Move& move, Stopwatch& watch) {
  const auto each_device = [&](const auto& ask) {
    for (std::size_t d = 0; d < from_.size(); ++d) {
      backend_.enter(DeviceId(d));
      ask(DeviceId(d));
    }
  };
  each_device([&](DeviceId device) { fill(device, move); });
  backend_.finish();
  {
    const Held hold(watch);
    each_device([&](DeviceId device) { watch.time(device, [&] { run(device, move); }); });
  }
  return watch.read();
}

void MoveTimes::warm_up(const std::atomic<bool>* cancelled) {
  throw_if_cancelled(cancelled);
  if (moves_.empty()) return;
  for (std::size_t d = 0; d < from_.size(); ++d) {
    backend_.enter(DeviceId(d));
    fill(DeviceId(d), moves_.back());
    run(DeviceId(d), moves_.back());
  }
}

std::vector<MeasuredMove> MoveTimes::rows(const std::string& source) const {
  std::vector<MeasuredMove> rows;
  for (const auto& [key, samples] : samples_) {
    const Summary s = samples.summary(Sampled::always);
    rows.push_back({key.first, {key.second}, s.median, s.spread, s.count, source});
  }
  return rows;
}

}  // namespace strata
