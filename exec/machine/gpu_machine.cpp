#include "exec/machine/gpu_machine.h"

#include <fmt/format.h>

#include "exec/machine/executor_run.h"
#include "sim/base/error.h"
#include "sim/cluster/gpu_cluster.h"
#ifdef STRATA_CUDA
#include <algorithm>
#include <map>
#include <set>

#include "exec/cuda/device/gpu_part.h"
#include "exec/cuda/device/gpu_state.h"
#include "exec/cuda/products/library_versions.h"
#include "exec/cuda/run/part_trial.h"
#include "exec/cuda/run/stream_run.h"
#include "exec/cuda/tensor/move.h"
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
    default:
      throw InputError(fmt::format("`dtype` {}: GPUs run fp32, tf32 and bf16 here", name(dtype)));
  }
}

std::size_t devices_on(const DeviceList& list, int gpu) {
  return static_cast<std::size_t>(std::count(list.gpus.begin(), list.gpus.end(), gpu));
}

// A neighbour on the same GPU, where there is one.
DeviceId copies_from(const DeviceList& list, std::size_t device) {
  const std::size_t count = list.gpus.size();
  for (std::size_t k = 1; k < count; ++k) {
    const std::size_t other = (device + k) % count;
    if (list.gpus[other] == list.gpus[device]) return DeviceId(other);
  }
  return DeviceId((device + 1) % count);
}

// NCCL refuses two ranks on one GPU.
void check_places(const DeviceList& list, const std::string& name,
                  std::span<const RankPlace> places) {
  for (int gpu : list.gpus) {
    if (devices_on(list, gpu) == 1) continue;
    throw EnvironmentError(fmt::format(
        "{}: processes can't share GPU {}, since NCCL wants one for each; allowed: every GPU once, "
        "or one process",
        name, gpu));
  }
  std::map<std::size_t, std::size_t> ranks;  // by host
  for (const RankPlace& place : places) ++ranks[place.host];
  for (const auto& [host, count] : ranks) {
    if (count == list.gpus.size()) continue;
    throw InputError(fmt::format("{}: {} processes on host {}; allowed: {}, one for each GPU", name,
                                 count, host, list.gpus.size()));
  }
  if (places.size() <= cuda::kMostCombined) return;
  throw InputError(fmt::format("{}: {} processes; allowed: at most {} with a GPU each", name,
                               places.size(), cuda::kMostCombined));
}

// "cuda0", or "host1.cuda0" where there are several hosts.
std::vector<std::string> names_of_ranks(const DeviceList& list, std::span<const RankPlace> places) {
  const bool several = std::any_of(places.begin(), places.end(),
                                   [](const RankPlace& place) { return place.host > 0; });
  std::vector<std::string> names;
  for (const RankPlace& place : places) {
    const int gpu = list.gpus[place.local];
    names.push_back(several ? fmt::format("host{}.cuda{}", place.host, gpu)
                            : fmt::format("cuda{}", gpu));
  }
  return names;
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
    const std::string& name_of_gpu = gpus[static_cast<std::size_t>(gpu)].name;
    devices.push_back(
        {gpu, cuda::device_name(list.gpus, d), gpu_kind(name_of_gpu, devices_on(list, gpu))});
  }
  return gpu_cluster(name, devices);
}

struct Partitions {
  cuda::GpuParts parts;
};

std::shared_ptr<const Partitions> partitions(const DeviceList& list) {
  gpus_for(list);
  return std::make_shared<const Partitions>(Partitions{cuda::tried_parts(list.gpus)});
}

std::shared_ptr<Backend> backend(const DeviceList& list, const Partitions& partitions,
                                 DType dtype) {
  const cuda::Precision precision = precision_of(dtype);
  gpus_for(list);
  return std::make_shared<cuda::CudaBackend>(list.gpus, partitions.parts, precision);
}

std::unique_ptr<PlanRun> start(std::shared_ptr<Backend> gpus, const Graph& graph, const Plan& plan,
                               const ExecutionOptions& options) {
  return std::make_unique<ExecutorRun<cuda::StreamExecutor>>(
      std::move(gpus), [&](Backend& backend) {
        return cuda::StreamExecutor(graph, plan, static_cast<cuda::CudaBackend&>(backend), options);
      });
}

Cluster cluster_of_ranks(const DeviceList& list, const std::string& name,
                         std::span<const RankPlace> places) {
  check_places(list, name, places);
  const std::vector<cuda::Gpu> gpus = gpus_for(list);
  const std::vector<std::string> names = names_of_ranks(list, places);
  std::vector<GpuDevice> devices;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    const int gpu = list.gpus[places[rank].local];
    const std::string kind = gpu_kind(gpus[static_cast<std::size_t>(gpu)].name);
    devices.push_back({gpu, names[rank], kind, fmt::format("host{}", places[rank].host)});
  }
  return gpu_cluster(name, devices);
}

std::shared_ptr<Backend> backend_of_rank(const DeviceList& list, std::span<const RankPlace> places,
                                         std::size_t rank, DType dtype) {
  const cuda::Precision precision = precision_of(dtype);
  gpus_for(list);
  const cuda::OneOfSeveral own{DeviceId(rank), list.gpus[places[rank].local],
                               names_of_ranks(list, places)};
  return std::make_shared<cuda::CudaBackend>(own, precision);
}

std::unique_ptr<PlanRun> start_rank(const Ranks& ranks, std::shared_ptr<Backend> own,
                                    const Graph& graph, const Plan& plan,
                                    const ExecutionOptions& options) {
  return std::make_unique<ExecutorRun<cuda::StreamExecutor>>(std::move(own), [&](Backend& backend) {
    return cuda::StreamExecutor(graph, plan, static_cast<cuda::CudaBackend&>(backend), options,
                                &ranks);
  });
}

// Those that have a GPU to themselves have links to others, on which sums are the links'.
CalibrateOptions calibrate_options(const DeviceList& list) {
  CalibrateOptions options;
  options.memory = own_memory(list);
  options.spin_up = {0.5};
  for (std::size_t d = 0; d < list.gpus.size(); ++d) {
    options.copies.push_back(copies_from(list, d));
    options.sums = options.sums && devices_on(list, list.gpus[d]) > 1;
  }
  return options;
}

std::string description(const DeviceList& list, const Partitions& partitions) {
  const cuda::Gpu gpu = gpus_for(list)[static_cast<std::size_t>(list.gpus.front())];
  const std::string driver = cuda::driver_version();
  return fmt::format("{}, {}, driver {}{}, CUDA {}, {}", gpu.name, partitions.parts.description(),
                     driver.empty() ? "" : driver + " for CUDA ", version(gpu.driver),
                     version(gpu.runtime), cuda::library_versions());
}

std::string state(const DeviceList& list) {
  std::string text;
  for (int gpu : std::set<int>(list.gpus.begin(), list.gpus.end())) {
    text += fmt::format("{}GPU {}: {}", text.empty() ? "" : "; ", gpu, cuda::state_of_gpu(gpu));
  }
  return text;
}

Bytes own_memory(const DeviceList& list) {
  const std::vector<cuda::Gpu> gpus = gpus_for(list);
  std::vector<Bytes> shares;
  for (int gpu : list.gpus) {
    const std::int64_t memory = gpus[static_cast<std::size_t>(gpu)].memory;
    shares.push_back({memory / static_cast<std::int64_t>(devices_on(list, gpu))});
  }
  return *std::min_element(shares.begin(), shares.end());
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
std::shared_ptr<const Partitions> partitions(const DeviceList&) {
  refuse();
}
std::shared_ptr<Backend> backend(const DeviceList&, const Partitions&, DType) {
  refuse();
}
// NOLINTBEGIN(performance-unnecessary-value-param): the signatures are those with CUDA.
std::unique_ptr<PlanRun> start(std::shared_ptr<Backend>, const Graph&, const Plan&,
                               const ExecutionOptions&) {
  refuse();
}
Cluster cluster_of_ranks(const DeviceList&, const std::string&, std::span<const RankPlace>) {
  refuse();
}
std::shared_ptr<Backend> backend_of_rank(const DeviceList&, std::span<const RankPlace>, std::size_t,
                                         DType) {
  refuse();
}
std::unique_ptr<PlanRun> start_rank(const Ranks&, std::shared_ptr<Backend>, const Graph&,
                                    const Plan&, const ExecutionOptions&) {
  refuse();
}
// NOLINTEND(performance-unnecessary-value-param)
CalibrateOptions calibrate_options(const DeviceList&) {
  refuse();
}
std::string description(const DeviceList&, const Partitions&) {
  refuse();
}
std::string state(const DeviceList&) {
  refuse();
}
Bytes own_memory(const DeviceList&) {
  refuse();
}

#endif

}  // namespace strata::gpu_machine
