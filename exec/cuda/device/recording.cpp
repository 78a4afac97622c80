#include "exec/cuda/device/recording.h"

#include <utility>

#include <cuda_runtime.h>

#include "exec/cuda/device/check.h"
#include "exec/cuda/device/native.h"

namespace strata::cuda {
namespace {

std::shared_ptr<void> playable(cudaGraph_t graph) {
  cudaGraphExec_t made = nullptr;
  const cudaError_t status = cudaGraphInstantiate(&made, graph, 0);
  cudaGraphDestroy(graph);
  check(status, "making a recording playable");
  return {made, [](void* held) { cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(held)); }};
}

}  // namespace

// Relaxed: a pool may ask for more memory meanwhile. Who records sees to it that none goes back.
Recording::Recording(Stream& first) : first_(first) {
  use_gpu(first.gpu());
  check(cudaStreamBeginCapture(native(first), cudaStreamCaptureModeRelaxed), "beginning to record");
}

Recording::~Recording() {
  if (!under_way_) return;
  cudaGraph_t graph = nullptr;
  cudaStreamEndCapture(native(first_), &graph);
  if (graph != nullptr) cudaGraphDestroy(graph);
  cudaGetLastError();  // which would be told again
}

Recorded Recording::end() {
  use_gpu(first_.gpu());
  cudaGraph_t graph = nullptr;
  under_way_ = false;
  check(cudaStreamEndCapture(native(first_), &graph), "recording");
  return Recorded(playable(graph));
}

void Recorded::play(Stream& stream) {
  use_gpu(stream.gpu());
  check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(body_.get()), native(stream)),
        "playing a recording");
}

}  // namespace strata::cuda
