#include "exec/cuda/run/recorded_streams.h"

namespace strata::cuda {
namespace {

constexpr std::uint32_t kFirst = 0;  // the stream that plays

}  // namespace

// Between the two walls no stream waits for what was before, nor anybody later for what is between.
RecordedStreams::RecordedStreams(CudaBackend& backend) : backend_(backend) {
  Order& order = backend.order();
  order.gather(kFirst);
  order.spread(kFirst);
  recording_.emplace(backend.stream(kFirst));
  order.spread(kFirst);
}

Recorded RecordedStreams::end() {
  backend_.order().gather(kFirst);
  return recording_->end();
}

void play(Recorded& recorded, CudaBackend& backend) {
  backend.order().gather(kFirst);
  recorded.play(backend.stream(kFirst));
  backend.order().spread(kFirst);
}

}  // namespace strata::cuda
