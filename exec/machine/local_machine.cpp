#include "exec/machine/local_machine.h"

#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "exec/calibrate/calibration.h"
#include "exec/cpu/cpu_backend.h"
#include "exec/machine/executor_run.h"
#include "exec/machine/rank_machine.h"
#include "exec/runtime/executor.h"
#include "sim/base/error.h"
#include "sim/cluster/cpu_cluster.h"

namespace strata {
namespace {

// The N of "cpu:N".
int cpu_count(const std::string& devices) {
  constexpr std::string_view kPrefix = "cpu:";
  int count = 0;
  const char* begin = devices.data() + kPrefix.size();
  const char* end = devices.data() + devices.size();
  const bool named = devices.starts_with(kPrefix) && begin != end;
  if (named) {
    const auto [last, error] = std::from_chars(begin, end, count);
    if (error == std::errc{} && last == end && count >= 1 && count <= kCpuDeviceLimit) return count;
  }
  throw InputError(
      fmt::format("no devices '{}'; allowed: cpu:N, N from 1 to {}", devices, kCpuDeviceLimit));
}

class LocalMachine : public Runner {
 public:
  Cluster cluster(const std::string& devices) const override {
    return cpu_cluster(cpu_count(devices));
  }
  std::unique_ptr<PlanRun> start(const std::string& devices, const Graph& graph, const Plan& plan,
                                 const ExecutionOptions& options) override {
    return std::make_unique<ExecutorRun<Executor>>(
        std::make_unique<cpu::CpuBackend>(cpu_count(devices)),
        [&](Backend& backend) { return Executor(graph, plan, backend, options); });
  }
  std::unique_ptr<Measurer> measure(const std::string& devices, const Graph& graph,
                                    std::vector<MeasureRequest> requests,
                                    std::vector<Bytes> move_sizes) override {
    return calibrate(std::make_unique<cpu::CpuBackend>(cpu_count(devices)), graph, requests,
                     std::move(move_sizes), description(devices));
  }
  std::string description(const std::string& devices) const override {
    return cpu::CpuBackend(static_cast<std::size_t>(cpu_count(devices))).description();
  }
};

#ifdef STRATA_MPI

// One of several processes.
class RankMachine : public LocalMachine {
 public:
  explicit RankMachine(mpi::World& world, bool leads) : world_(world), leads_(leads) {}

  Cluster cluster(const std::string& devices) const override {
    check_one_device_a_process(world_, cpu_count(devices));
    return LocalMachine::cluster(devices);
  }
  std::unique_ptr<PlanRun> start(const std::string& devices, const Graph& graph, const Plan& plan,
                                 const ExecutionOptions& options) override {
    return start_rank(world_, std::make_unique<cpu::CpuBackend>(cpu_count(devices)), graph, plan,
                      options);
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
