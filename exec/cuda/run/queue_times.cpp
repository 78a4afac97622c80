#include "exec/cuda/run/queue_times.h"

namespace strata::cuda {

QueueTimes::QueueTimes(CudaBackend& backend)
    : backend_(backend), pieces_(backend.device_count()), used_(backend.device_count()) {}

// Whoever is held looks at the gate.
QueueTimes::~QueueTimes() {
  try {
    gate_.open();
    backend_.finish();
  } catch (...) {  // said by who waited for the work
  }
}

void QueueTimes::hold() {
  for (std::size_t d = 0; d < pieces_.size(); ++d) {
    gate_.close(backend_.seat(DeviceId(d)).stream());
  }
}

void QueueTimes::let_go() {
  gate_.open();
}

void QueueTimes::time(DeviceId device, const std::function<void()>& work) {
  Stream& on = backend_.seat(device).stream();
  std::vector<Piece>& pieces = pieces_[device()];
  std::size_t& used = used_[device()];
  if (used == pieces.size()) {
    pieces.push_back({Event(on.gpu(), EventKind::time), Event(on.gpu(), EventKind::time)});
  }
  pieces[used].start.record(on);
  work();
  pieces[used].end.record(on);
  order_.push_back({device(), used++});
}

std::vector<Seconds> QueueTimes::read() {
  backend_.finish();
  held_ = !gate_.gave_up();
  std::vector<Seconds> times;
  times.reserve(order_.size());
  for (const Place& place : order_) {
    const Piece& piece = pieces_[place.device][place.piece];
    times.push_back(piece.end.since(piece.start));
  }
  order_.clear();
  used_.assign(used_.size(), 0);
  return times;
}

}  // namespace strata::cuda
