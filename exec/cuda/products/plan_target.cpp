#include <fmt/format.h>

#include "exec/cuda/products/cudnn_graph.h"

namespace strata::cuda {
namespace {

/// What the CUDA programming guide's table of compute capabilities says of a multiprocessor.
struct Capability {
  int shared_kib, blocks, threads;
};

Capability capability(int number) {
  if (number >= 120) return {99, 24, 1536};
  if (number >= 90) return {227, 32, 2048};
  if (number == 89) return {99, 24, 1536};
  if (number == 87) return {163, 16, 1536};
  if (number == 86) return {99, 16, 1536};
  if (number >= 80) return {163, 32, 2048};
  return {64, 16, 1024};
}

}  // namespace

// The clocks are an H200's: the library only weighs them against each other.
std::string device_properties(const Gpu& gpu) {
  const Capability of = capability(gpu.compute_capability);
  return fmt::format(
      R"({{"maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],)"
      R"("regsPerBlock":65536,"multiProcessorCount":{},"warpSize":32,)"
      R"("maxSharedMemoryPerBlock":49152,"maxSharedMemoryPerBlockOptin":{},)"
      R"("reservedSharedMemoryPerBlock":1024,"maxRegistersPerSM":65536,"maxCtasPerSM":{},)"
      R"("maxThreadsPerBlock":1024,"maxThreadsPerSM":{},"pciDeviceId":0,"isTccDriver":0,)"
      R"("supportCoopLaunch":1,"totalGlobalMem":{},"smClockRateKHz":1980000,)"
      R"("memClockRateKHz":3201000,"l2CacheSize":{},"cudaDeviceId":0,"deviceVer":{},)"
      R"("driverVer":{},"deviceName":"{}"}})",
      gpu.multiprocessors, of.shared_kib * 1024, of.blocks, of.threads, gpu.memory, gpu.cache,
      gpu.compute_capability * 10, gpu.driver, gpu.name);
}

PlanTarget::PlanTarget(const Cudnn& cudnn, const Gpu& described) : cudnn_(&cudnn) {
  const std::string text = device_properties(described);
  described_.emplace(cudnn, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  described_->set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                  std::span<const char>(text));
  described_->finalise("describing a GPU");
}

void PlanTarget::aim_graph(Descriptor& graph) const {
  if (!described_) graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, handle_);
}

void PlanTarget::aim_heuristics(Descriptor& heuristics) const {
  if (described_) heuristics.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *described_);
}

void PlanTarget::aim_engine(Descriptor& engine) const {
  if (described_) engine.set(CUDNN_ATTR_ENGINE_DEVICEPROP, *described_);
}

void PlanTarget::aim_plan(Descriptor& plan) const {
  if (described_) {
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, *described_);
  } else {
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, handle_);
  }
}

}  // namespace strata::cuda
