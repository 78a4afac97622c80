#include "exec/cuda/run/queue_times.h"

#include <algorithm>
#include <utility>

#include "exec/cuda/streams/seat.h"
#include "exec/cuda/tensor/noise.h"
#include "sim/base/error.h"
#include "sim/base/quantile.h"

namespace strata::cuda {
namespace {

constexpr std::size_t kPairs = 48;

// A kernel of one value.
void put_small_tasks(std::size_t count, const LastingMemory& value, Stream& on) {
  for (std::size_t i = 0; i < count; ++i) fill_with_noise(value.data(), 1, Type::fp32, on);
}

}  // namespace

QueueTimes::QueueTimes(CudaBackend& backend, bool recorded)
    : backend_(backend),
      recorded_(recorded),
      pieces_(backend.device_count()),
      used_(backend.device_count()),
      small_(backend.device_count()) {
  if (recorded_) measure_events();
}

// Whoever is held looks at the gate.
QueueTimes::~QueueTimes() {
  try {
    gate_.open();
    backend_.finish();
  } catch (...) {  // said by who waited for the work
  }
}

void QueueTimes::hold() {
  if (recorded_) {
    recording_.emplace(backend_);
    return;
  }
  for (std::size_t d = 0; d < pieces_.size(); ++d) {
    gate_.close(backend_.seat(DeviceId(d)).stream());
  }
}

// By device one task and two in turns, kPairs times. The first playing of a recording does more,
// and is forgotten.
std::vector<Seconds> QueueTimes::time_small_tasks() {
  std::vector<LastingMemory> values;
  for (std::size_t d = 0; d < pieces_.size(); ++d) {
    values.emplace_back(backend_.seat(DeviceId(d)).stream().gpu(), sizeof(float));
  }
  std::vector<Seconds> times;
  for (int playing = 0; playing < 2; ++playing) {
    {
      const Held hold(*this);
      for (std::size_t d = 0; d < pieces_.size(); ++d) {
        backend_.enter(DeviceId(d));
        Stream& on = backend_.seat(DeviceId(d)).stream();
        for (std::size_t i = 0; i < 2 * kPairs; ++i) {
          time(DeviceId(d), [&] { put_small_tasks(1 + i % 2, values[d], on); });
        }
      }
    }
    times = read();
  }
  return times;
}

// A second small task adds what a task of a recorded step lasts, the transition to it included;
// what the first one alone lasts beyond that, the events added. Where others use the GPU, too, two
// may seem to last no longer than one: then nothing is known.
void QueueTimes::measure_events() {
  const std::vector<Seconds> times = time_small_tasks();
  std::vector<SmallTasks> found(pieces_.size());
  for (std::size_t d = 0; d < found.size(); ++d) {
    std::vector<double> one, two;
    for (std::size_t i = 2 * kPairs * d; i < 2 * kPairs * (d + 1); i += 2) {
      one.push_back(times[i].value), two.push_back(times[i + 1].value);
    }
    const Seconds of_one{median(std::move(one))}, each = Seconds{median(std::move(two))} - of_one;
    if (each > Seconds{}) found[d] = {each, std::max(of_one - each, Seconds{})};
  }
  small_ = std::move(found);
}

// May be called on the way out of an error, which must not be replaced. What is recorded is played
// once and at once, so nothing can move in between, whoever else has memory; while it is recorded
// memory may go, which end() tells. Memory that a hold takes for the next one is no matter: unlike
// a step's, no recording is played again.
void QueueTimes::let_go() try {
  if (!recorded_) return gate_.open();
  playing_.push_back(recording_->end());
  recording_.reset();
  play(playing_.back(), backend_);
} catch (const EnvironmentError&) {
  recording_.reset();
  if (!failed_) failed_ = std::current_exception();
}

void QueueTimes::record(Event& event, Stream& on) {
  recording_ ? event.record_when_played(on) : event.record(on);
}

void QueueTimes::time(DeviceId device, const std::function<void()>& work) {
  Stream& on = backend_.seat(device).stream();
  std::vector<Piece>& pieces = pieces_[device()];
  std::size_t& used = used_[device()];
  if (used == pieces.size()) {
    pieces.push_back({Event(on.gpu(), EventKind::time), Event(on.gpu(), EventKind::time)});
  }
  record(pieces[used].start, on);
  work();
  record(pieces[used].end, on);
  order_.push_back({device(), used++});
}

std::vector<Seconds> QueueTimes::read() {
  backend_.finish();
  playing_.clear();
  if (failed_) std::rethrow_exception(std::exchange(failed_, nullptr));
  held_ = !gate_.gave_up();
  std::vector<Seconds> times;
  times.reserve(order_.size());
  for (const TimedPiece& timed : order_) {
    const Piece& piece = pieces_[timed.device][timed.piece];
    const Seconds time = piece.end.since(piece.start);
    const SmallTasks& small = small_[timed.device];
    times.push_back(std::max(time - small.events, std::min(time, small.each)));
  }
  order_.clear();
  used_.assign(used_.size(), 0);
  return times;
}

}  // namespace strata::cuda
