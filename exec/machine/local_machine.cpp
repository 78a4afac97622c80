#include "exec/machine/local_machine.h"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "exec/calibrate/calibration.h"
#include "exec/cpu/cpu_backend.h"
#include "exec/cpu/tensor.h"
#include "exec/machine/device_list.h"
#include "exec/machine/executor_run.h"
#include "exec/machine/gpu_machine.h"
#include "exec/machine/rank_machine.h"
#include "exec/runtime/executor.h"
#include "sim/base/error.h"
#include "sim/cluster/cpu_cluster.h"

namespace strata {
namespace {

// The cores of this machine, where the list is of them.
std::unique_ptr<Backend> cores(const DeviceList& list) {
  return std::make_unique<cpu::CpuBackend>(static_cast<std::size_t>(list.cpus));
}

void check_dtype(DType dtype) {
  if (dtype == DType::fp32) return;
  throw InputError(
      fmt::format("`dtype` {}: cores of this machine compute in fp32 alone", name(dtype)));
}

void refuse_recording(bool recorded) {
  if (!recorded) return;
  throw InputError("`graph`: cores have no graphs to play; allowed: with cuda:I");
}

void check_options(const ExecutionOptions& options) {
  if (options.serial) {
    throw InputError("`serial`: cores share nothing; allowed: with devices that share a GPU");
  }
  refuse_recording(options.recorded);
}

class LocalMachine : public Runner {
 public:
  Cluster cluster(const std::string& devices) const override {
    const DeviceList list = parse_device_list(devices);
    return list.cpus > 0
               ? cpu_cluster(list.cpus, kCpuCopyBandwidth, kCpuCopyLatency, cpu::vector_block())
               : gpu_machine::cluster(list, devices);
  }
  std::unique_ptr<PlanRun> start(const std::string& devices, const Graph& graph, const Plan& plan,
                                 const ExecutionOptions& options) override {
    const DeviceList list = parse_device_list(devices);
    if (list.cpus == 0) {
      return gpu_machine::start(gpus(devices, plan.dtype()), graph, plan, options);
    }
    check_dtype(plan.dtype());
    check_options(options);
    return std::make_unique<ExecutorRun<Executor>>(
        cores(list), [&](Backend& backend) { return Executor(graph, plan, backend, options); });
  }
  std::unique_ptr<Measurer> measure(const std::string& devices, const Graph& graph,
                                    MeasureList wanted) override {
    const DeviceList list = parse_device_list(devices);
    CalibrateOptions options;
    if (list.cpus == 0) options = gpu_machine::calibrate_options(list);
    options.source = description(devices);
    options.recorded = wanted.recorded;
    if (list.cpus == 0) {
      return calibrate(gpus(devices, wanted.dtype), graph, wanted, std::move(options));
    }
    check_dtype(wanted.dtype);
    refuse_recording(wanted.recorded);
    return calibrate(cores(list), graph, wanted, std::move(options));
  }
  std::string description(const std::string& devices) const override {
    const DeviceList list = parse_device_list(devices);
    if (list.cpus == 0) {
      std::string& known = descriptions_[devices];
      if (known.empty()) known = gpu_machine::description(list, partitions(devices));
      return known;
    }
    return cpu::CpuBackend(static_cast<std::size_t>(list.cpus)).description();
  }
  std::string state(const std::string& devices) const override {
    const DeviceList list = parse_device_list(devices);
    return list.cpus > 0 ? "" : gpu_machine::state(list);
  }
  std::optional<Bytes> own_memory(const std::string& devices) const override {
    const DeviceList list = parse_device_list(devices);
    if (list.cpus > 0) return std::nullopt;
    return gpu_machine::own_memory(list);
  }
  std::string first_of(const std::string& devices, std::size_t count) const override {
    return print(first(parse_device_list(devices), count));
  }

 private:
  // One for all who use these devices at a time.
  std::shared_ptr<Backend> gpus(const std::string& devices, DType dtype) {
    std::weak_ptr<Backend>& kept = gpus_[{devices, dtype}];
    if (auto backend = kept.lock()) return backend;
    auto made = gpu_machine::backend(parse_device_list(devices), partitions(devices), dtype);
    kept = made;
    return made;
  }

  // One for all backends of these devices, and what is said of them.
  const gpu_machine::Partitions& partitions(const std::string& devices) const {
    auto& kept = partitions_[devices];
    if (!kept) kept = gpu_machine::partitions(parse_device_list(devices));
    return *kept;
  }

  mutable std::map<std::string, std::shared_ptr<const gpu_machine::Partitions>> partitions_;
  std::map<std::pair<std::string, DType>, std::weak_ptr<Backend>> gpus_;
  mutable std::map<std::string, std::string> descriptions_;  // of GPUs: libraries are looked for
};

#ifdef STRATA_MPI

// One of several processes.
class RankMachine : public LocalMachine {
 public:
  explicit RankMachine(mpi::World& world, bool leads) : world_(world), leads_(leads) {}

  Cluster cluster(const std::string& devices) const override {
    const DeviceList list = parse_device_list(devices);
    if (list.cpus == 0) return gpus_of_ranks(world_, list, devices);
    check_one_device_a_process(world_, list.cpus);
    return LocalMachine::cluster(devices);
  }
  std::unique_ptr<PlanRun> start(const std::string& devices, const Graph& graph, const Plan& plan,
                                 const ExecutionOptions& options) override {
    const DeviceList list = parse_device_list(devices);
    if (list.cpus == 0) return start_gpu_rank(world_, list, graph, plan, options);
    check_dtype(plan.dtype());
    check_options(options);
    return start_rank(world_, cores(list), graph, plan, options);
  }
  std::unique_ptr<Measurer> measure(const std::string&, const Graph&, MeasureList) override {
    throw InputError("one process measures its machine; allowed: the same without mpirun");
  }
  std::string description(const std::string& devices) const override {
    return LocalMachine::description(devices) + "; " + describe(world_);
  }
  bool leads() const override { return leads_; }
  bool is_one_process() const override { return false; }

 private:
  mpi::World& world_;
  bool leads_;
};

#endif

}  // namespace

bool has_cuda() {
#ifdef STRATA_CUDA
  return true;
#else
  return false;
#endif
}

std::unique_ptr<Runner> local_machine([[maybe_unused]] const Processes& processes) {
#ifdef STRATA_MPI
  if (processes.world() != nullptr) {
    return std::make_unique<RankMachine>(*processes.world(), processes.leads());
  }
#endif
  return std::make_unique<LocalMachine>();
}

}  // namespace strata
