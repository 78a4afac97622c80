#include "tests/exec/cuda/fake_runs.h"

#include <algorithm>
#include <utility>

#include "tests/exec/cuda/plans.h"

namespace strata::cuda {
namespace {

// The library's functions have no place for state.
struct State {
  FakeRuns runs;
  std::vector<cudnnBackendDescriptor_t> plans;  // that were run
  decltype(cudnnBackendCreateDescriptor)* create = nullptr;
  decltype(cudnnBackendFinalize)* finalize = nullptr;
  decltype(cudnnBackendSetAttribute)* set = nullptr;
  decltype(cudnnBackendDestroyDescriptor)* destroy = nullptr;
  cudnnBackendDescriptor_t refused = nullptr;  // the last plan, if it is
  ConvolutionMemory memory;                    // of the next run
};

State& state() {
  static State one;
  return one;
}

cudnnStatus_t counted_create(cudnnBackendDescriptorType_t kind, cudnnBackendDescriptor_t* to) {
  state().runs.asked += kind == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR ? 1 : 0;
  const cudnnStatus_t status = state().create(kind, to);
  if (kind != CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) return status;
  FakeRuns& runs = state().runs;
  const bool refused = runs.refuses && runs.refuses(runs.planned);
  ++runs.planned;
  state().refused = refused ? *to : nullptr;
  return status;
}

cudnnStatus_t finalize_or_refuse(cudnnBackendDescriptor_t descriptor) {
  const bool refused = descriptor == std::exchange(state().refused, nullptr);
  return refused ? CUDNN_STATUS_NOT_SUPPORTED : state().finalize(descriptor);
}

// Another plan may come to lie where this one lay.
cudnnStatus_t forgetting_destroy(cudnnBackendDescriptor_t descriptor) {
  std::replace(state().plans.begin(), state().plans.end(), descriptor,
               cudnnBackendDescriptor_t(nullptr));
  return state().destroy(descriptor);
}

// The library does not give back what a pack was told, so it is read on its way there: in the order
// of kTensorNames.
cudnnStatus_t watched_set(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                          cudnnBackendAttributeType_t type, std::int64_t count,
                          const void* values) {
  if (name == CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS) {
    const auto* const places = static_cast<void* const*>(values);
    state().memory = {places[0], places[1], places[2]};
  }
  return state().set(descriptor, name, type, count, values);
}

cudnnStatus_t made_up_run(cudnnHandle_t, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t) {
  std::vector<cudnnBackendDescriptor_t>& plans = state().plans;
  FakeRuns& runs = state().runs;
  const auto at = std::find(plans.begin(), plans.end(), plan);
  const auto number = static_cast<std::size_t>(at - plans.begin());
  if (at == plans.end()) plans.push_back(plan), runs.runs.push_back(0);
  const std::size_t run = runs.runs[number]++;
  if (runs.compute) runs.compute(number, state().memory);
  return runs.run ? runs.run(number, run) : CUDNN_STATUS_SUCCESS;
}

}  // namespace

FakeRuns& fake_runs() {
  return state().runs;
}

void reset_fake_runs() {
  state().runs = {};
  state().plans.clear();
}

std::unique_ptr<Seat> seat_with_fake_runs(Precision precision, const std::string& choices) {
  return seat_with_fake_runs(whole_of(0), precision, choices);
}

std::unique_ptr<Seat> seat_with_fake_runs(const GpuPart& part, Precision precision,
                                          const std::string& choices) {
  auto cudnn = std::make_unique<Cudnn>();
  state().create = std::exchange(cudnn->create_descriptor, counted_create);
  state().finalize = std::exchange(cudnn->finalize, finalize_or_refuse);
  state().destroy = std::exchange(cudnn->destroy_descriptor, forgetting_destroy);
  state().set = std::exchange(cudnn->set_attribute, watched_set);
  cudnn->execute = made_up_run;
  auto seat = std::make_unique<Seat>(part, precision);
  EngineSearch search = engine_search();
  search.checked = state().runs.compute != nullptr;
  use_cudnn(*seat, std::make_unique<CudnnSeat>(*seat, std::move(cudnn), h200(), ChoiceFile(choices),
                                               search));
  return seat;
}

}  // namespace strata::cuda
