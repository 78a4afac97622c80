// Needs the headers of cuDNN and cuBLAS.

#include <chrono>
#include <cstddef>
#include <utility>

#include "exec/cuda/products/sample_products.h"
#include "exec/cuda/products/tuned_plan.h"
#include "sim/base/error.h"
#include "tests/exec/cuda/overheads.h"

namespace strata::cuda {
namespace {

constexpr std::int64_t kSamples = 32, kChannels = 256, kImage = 14, kRows = 1024;

// The host's own clock: no GPU has a part in what it plans.
template <class Work>
double seconds_of(const Work& work) {
  const auto before = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
}

/// Of what either mode of the heuristics proposes, the first that gives a plan. The heuristics'
/// time is that of the mode asked first.
Planned first_plan(const ConvolutionGraph& graph, nlohmann::ordered_json& json) {
  Planned planned;
  std::size_t engines = 0;
  for (cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    Proposals proposals;
    const double seconds = seconds_of([&] { proposals = graph.proposals(mode); });
    if (mode == CUDNN_HEUR_MODE_A) json["heuristics_seconds"] = seconds;
    json["engines"] = engines += proposals.candidates.size();
    json["engine"] = nullptr;
    for (PlanCandidate& candidate : proposals.candidates) {
      const std::string name = candidate.name;
      const double taken = seconds_of([&] { planned = graph.plan(std::move(candidate)); });
      if (!planned.plan) continue;
      json["engine"] = name, json["plan_seconds"] = taken;
      return planned;
    }
  }
  return planned;
}

nlohmann::ordered_json overheads_of(Seat& seat, Direction direction) {
  CudnnSeat& library = cudnn_of(seat);
  const ConvolutionShape shape = square_convolution(kSamples, kChannels, kImage);
  const ConvolutionGraph graph(library.target(), shape, direction, seat.precision());
  nlohmann::ordered_json json = {{"product", show(shape, direction, seat.precision())}};
  const Planned planned = first_plan(graph, json);
  if (!planned.plan) return json;
  const ConvolutionTensors tensors(seat, shape, planned.plan->workspace());
  const auto run = [&] {
    planned.plan->run(library.handle(), tensors.lent());
    seat.stream().finish();
  };
  json["first_run_seconds"] = seconds_of(run);
  json["second_run_seconds"] = seconds_of(run);
  return json;
}

nlohmann::ordered_json matrix_overheads(Seat& seat) {
  SquareMatrices matrices(seat, kRows);
  const auto run = [&] { matrices.multiply(); };
  nlohmann::ordered_json json;
  json["handle_seconds"] = seconds_of([&] { cublas_of(seat); });
  json["first_run_seconds"] = seconds_of(run);
  json["second_run_seconds"] = seconds_of(run);
  return json;
}

}  // namespace

nlohmann::ordered_json library_overheads(Seat& seat) {
  nlohmann::ordered_json json;
  json["cudnn"]["handle_seconds"] = seconds_of([&] { cudnn_of(seat); });
  for (Direction direction : {Direction::forward, Direction::data, Direction::weights}) {
    json["cudnn"]["convolutions"].push_back(overheads_of(seat, direction));
  }
  json["cublas"] = matrix_overheads(seat);
  return json;
}

}  // namespace strata::cuda
