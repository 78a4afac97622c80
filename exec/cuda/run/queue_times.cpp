#include "exec/cuda/run/queue_times.h"

#include <utility>

#include "sim/base/error.h"

namespace strata::cuda {

QueueTimes::QueueTimes(CudaBackend& backend, bool recorded)
    : backend_(backend),
      recorded_(recorded),
      pieces_(backend.device_count()),
      used_(backend.device_count()) {}

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
    times.push_back(piece.end.since(piece.start));
  }
  order_.clear();
  used_.assign(used_.size(), 0);
  return times;
}

}  // namespace strata::cuda
