#include "exec/machine/local_machine.h"

#include <fmt/format.h>

#include "exec/calibrate/calibration.h"
#include "exec/cpu/cpu_backend.h"
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

void check_dtype(const Plan& plan) {
  if (plan.dtype() == DType::fp32) return;
  throw InputError(
      fmt::format("--dtype {}: cores of this machine compute in fp32 alone", name(plan.dtype())));
}

class LocalMachine : public Runner {
 public:
  Cluster cluster(const std::string& devices) const override {
    const DeviceList list = parse_device_list(devices);
    return list.cpus > 0 ? cpu_cluster(list.cpus) : gpu_machine::cluster(list, devices);
  }
  std::unique_ptr<PlanRun> start(const std::string& devices, const Graph& graph, const Plan& plan,
                                 const ExecutionOptions& options) override {
    const DeviceList list = parse_device_list(devices);
    if (list.cpus == 0) return gpu_machine::start(list, graph, plan, options);
    check_dtype(plan);
    return std::make_unique<ExecutorRun<Executor>>(
        cores(list), [&](Backend& backend) { return Executor(graph, plan, backend, options); });
  }
  std::unique_ptr<Measurer> measure(const std::string& devices, const Graph& graph,
                                    std::vector<MeasureRequest> requests,
                                    std::vector<Bytes> move_sizes) override {
    const DeviceList list = parse_device_list(devices);
    return calibrate(list.cpus > 0 ? cores(list) : gpu_machine::backend(list), graph, requests,
                     std::move(move_sizes), description(devices));
  }
  std::string description(const std::string& devices) const override {
    const DeviceList list = parse_device_list(devices);
    if (list.cpus == 0) return gpu_machine::description(list);
    return cpu::CpuBackend(static_cast<std::size_t>(list.cpus)).description();
  }
};

#ifdef STRATA_MPI

// One of several processes.
class RankMachine : public LocalMachine {
 public:
  explicit RankMachine(mpi::World& world, bool leads) : world_(world), leads_(leads) {}

  Cluster cluster(const std::string& devices) const override {
    check_one_device_a_process(world_, cores_of(devices).cpus);
    return LocalMachine::cluster(devices);
  }
  std::unique_ptr<PlanRun> start(const std::string& devices, const Graph& graph, const Plan& plan,
                                 const ExecutionOptions& options) override {
    check_dtype(plan);
    return start_rank(world_, cores(cores_of(devices)), graph, plan, options);
  }
  std::unique_ptr<Measurer> measure(const std::string&, const Graph&, std::vector<MeasureRequest>,
                                    std::vector<Bytes>) override {
    throw InputError("one process measures its machine; allowed: the same without mpirun");
  }
  std::string description(const std::string& devices) const override {
    return LocalMachine::description(devices) + "; " + describe(world_);
  }
  bool leads() const override { return leads_; }
  bool is_one_process() const override { return false; }

 private:
  static DeviceList cores_of(const std::string& devices) {
    DeviceList list = parse_device_list(devices);
    if (list.cpus > 0) return list;
    throw InputError(
        fmt::format("{}: several processes run on cores; allowed: cpu:N, or the same without "
                    "mpirun",
                    devices));
  }

  mpi::World& world_;
  bool leads_;
};

#endif

}  // namespace

std::unique_ptr<Runner> local_machine([[maybe_unused]] const Processes& processes) {
#ifdef STRATA_MPI
  if (processes.world() != nullptr) {
    return std::make_unique<RankMachine>(*processes.world(), processes.leads());
  }
#endif
  return std::make_unique<LocalMachine>();
}

}  // namespace strata
