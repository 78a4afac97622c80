#include "exec/cuda/run/recorded_streams.h"

#include "sim/base/error.h"

namespace strata::cuda {
namespace {

constexpr std::uint32_t kFirst = 0;  // the stream that plays

}  // namespace

// Between the two walls no stream waits for what was before, nor anybody later for what is between.
RecordedStreams::RecordedStreams(CudaBackend& backend)
    : backend_(backend), losses_(backend.memory_losses()) {
  Order& order = backend.order();
  order.gather(kFirst);
  order.spread(kFirst);
  recording_.emplace(backend.stream(kFirst));
  order.spread(kFirst);
}

Recorded RecordedStreams::end() {
  backend_.order().gather(kFirst);
  Recorded recorded = recording_->end();
  if (backend_.memory_losses() == losses_) return recorded;
  throw EnvironmentError("out of memory: this can't be recorded; allowed: without --graph");
}

void play(Recorded& recorded, CudaBackend& backend) {
  backend.order().gather(kFirst);
  recorded.play(backend.stream(kFirst));
  backend.order().spread(kFirst);
}

}  // namespace strata::cuda
