#include "exec/cuda/device/gpu_state.h"

#include <array>
#include <string_view>
#include <vector>

#include <cuda_runtime.h>
#include <fmt/format.h>

#include "exec/cuda/device/check.h"
#include "exec/cuda/device/library.h"
#include "sim/base/error.h"

namespace strata::cuda {
namespace {

constexpr std::string_view kManagement = "libnvidia-ml.so.1";

// As nvml.h, which few toolkits bring, declares them: handles are pointers, results 0 for success,
// clocks are 1 for the multiprocessors' and 2 for the memory's.
using Handle = void*;
using Reasons = unsigned long long;
constexpr int kSmClock = 1, kMemoryClock = 2;

struct Reason {
  std::uint64_t bit;
  std::string_view name;
};
constexpr Reason kReasons[] = {{0x02, "its settings"},     {0x04, "power"},
                               {0x08, "hardware"},         {0x10, "its group"},
                               {0x20, "temperature"},      {0x40, "temperature (hardware)"},
                               {0x80, "power (hardware)"}, {0x100, "display settings"}};

class Management {
 public:
  Management() {
    if (init_() != 0) throw EnvironmentError("NVIDIA's management library does not start");
  }
  ~Management() { shutdown_(); }
  Management(const Management&) = delete;
  Management& operator=(const Management&) = delete;

  std::string driver() const {
    std::array<char, 96> text{};
    return version_(text.data(), text.size()) == 0 ? text.data() : "";
  }

  GpuState state(const char* bus) const {
    Handle device = nullptr;
    if (by_bus_(bus, &device) != 0) return {};
    GpuState state;
    state.sm_clock = told<unsigned>([&](auto* v) { return clock_(device, kSmClock, v); });
    state.memory_clock = told<unsigned>([&](auto* v) { return clock_(device, kMemoryClock, v); });
    state.power = told<unsigned>([&](auto* v) { return power_(device, v); });
    state.reasons = told<Reasons>([&](auto* v) { return reasons_(device, v); });
    return state;
  }

 private:
  template <class T, class Ask>
  static std::optional<T> told(const Ask& ask) {
    T value = 0;
    if (ask(&value) != 0) return std::nullopt;
    return value;
  }

  Library library_{kManagement};
  int (*init_)() = library_.find("nvmlInit_v2");
  int (*shutdown_)() = library_.find("nvmlShutdown");
  int (*version_)(char*, unsigned) = library_.find("nvmlSystemGetDriverVersion");
  int (*by_bus_)(const char*, Handle*) = library_.find("nvmlDeviceGetHandleByPciBusId_v2");
  int (*clock_)(Handle, int, unsigned*) = library_.find("nvmlDeviceGetClockInfo");
  int (*power_)(Handle, unsigned*) = library_.find("nvmlDeviceGetPowerUsage");
  // The name that newer ones have for it, too, is not in older ones.
  int (*reasons_)(Handle, Reasons*) = library_.find("nvmlDeviceGetCurrentClocksThrottleReasons");
};

std::string names_of(std::uint64_t reasons) {
  std::string text;
  for (const Reason& reason : kReasons) {
    if ((reasons & reason.bit) == 0) continue;
    text.append(text.empty() ? "" : ", ").append(reason.name);
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace

std::string describe(const GpuState& state) {
  std::vector<std::string> parts;
  if (state.sm_clock) parts.push_back(fmt::format("SM {} MHz", *state.sm_clock));
  if (state.memory_clock) parts.push_back(fmt::format("memory {} MHz", *state.memory_clock));
  if (state.power) parts.push_back(fmt::format("{} W", (*state.power + 500) / 1000));
  if (state.reasons) {
    parts.push_back(fmt::format("clocks held back by: {}", names_of(*state.reasons)));
  }
  return parts.empty() ? "nothing is told of it" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string state_of_gpu(int gpu) try {
  std::array<char, 32> bus{};
  check(cudaDeviceGetPCIBusId(bus.data(), bus.size(), gpu), "asking where a GPU is");
  return describe(Management().state(bus.data()));
} catch (const EnvironmentError& error) {
  return fmt::format("clocks and power not known ({})", error.message());
}

std::string driver_version() try { return Management().driver(); } catch (const EnvironmentError&) {
  return "";
}

}  // namespace strata::cuda
