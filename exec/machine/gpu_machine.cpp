#include "exec/machine/gpu_machine.h"

#include <fmt/format.h>

#include "exec/machine/executor_run.h"
#include "sim/base/error.h"
#include "sim/cluster/gpu_cluster.h"
#ifdef STRATA_CUDA
#include "exec/cuda/stream_run.h"
#endif

namespace strata::gpu_machine {

#ifdef STRATA_CUDA
namespace {

// Those that there are, which the list's must be among.
std::vector<cuda::Gpu> gpus_for(const DeviceList& list) {
  std::vector<cuda::Gpu> gpus = cuda::gpus();
  for (int gpu : list.gpus) {
    if (static_cast<std::size_t>(gpu) < gpus.size()) continue;
    throw EnvironmentError(fmt::format("no GPU {}: this machine has {}", gpu, gpus.size()));
  }
  return gpus;
}

cuda::Precision precision_of(DType dtype) {
  switch (dtype) {
    case DType::fp32:
      return cuda::Precision::fp32;
    case DType::tf32:
      return cuda::Precision::tf32;
    case DType::bf16:
      return cuda::Precision::bf16;
    case DType::fp16:
      break;
  }
  throw InputError("--dtype fp16: GPUs run fp32, tf32 and bf16 here");
}

std::unique_ptr<cuda::CudaBackend> backend_of(const DeviceList& list, cuda::Precision precision) {
  gpus_for(list);
  return std::make_unique<cuda::CudaBackend>(list.gpus, precision);
}

/// 13000 is 13.0.
std::string version(int number) {
  return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

}  // namespace

Cluster cluster(const DeviceList& list, const std::string& name) {
  const std::vector<cuda::Gpu> gpus = gpus_for(list);
  std::vector<GpuDevice> devices;
  for (std::size_t d = 0; d < list.gpus.size(); ++d) {
    const int gpu = list.gpus[d];
    devices.push_back(
        {gpu, cuda::device_name(list.gpus, d), gpu_kind(gpus[static_cast<std::size_t>(gpu)].name)});
  }
  return gpu_cluster(name, devices);
}

std::unique_ptr<PlanRun> start(const DeviceList& list, const Graph& graph, const Plan& plan,
                               const ExecutionOptions& options) {
  return std::make_unique<ExecutorRun<cuda::StreamExecutor>>(
      backend_of(list, precision_of(plan.dtype())), [&](Backend& backend) {
        return cuda::StreamExecutor(graph, plan, static_cast<cuda::CudaBackend&>(backend), options);
      });
}

std::unique_ptr<Backend> backend(const DeviceList& list) {
  return backend_of(list, cuda::Precision::fp32);
}

std::string description(const DeviceList& list) {
  const cuda::Gpu gpu = gpus_for(list)[static_cast<std::size_t>(list.gpus.front())];
  return fmt::format("{}, driver {}, CUDA {}", gpu.name, version(gpu.driver), version(gpu.runtime));
}

#else
namespace {

[[noreturn]] void refuse() {
  throw EnvironmentError("no GPU: this program was built without CUDA");
}

}  // namespace

Cluster cluster(const DeviceList&, const std::string&) {
  refuse();
}
std::unique_ptr<PlanRun> start(const DeviceList&, const Graph&, const Plan&,
                               const ExecutionOptions&) {
  refuse();
}
std::unique_ptr<Backend> backend(const DeviceList&) {
  refuse();
}
std::string description(const DeviceList&) {
  refuse();
}

#endif

}  // namespace strata::gpu_machine
