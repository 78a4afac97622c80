#include "exec/machine/device_list.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/cluster/cpu_cluster.h"

namespace strata {
namespace {

constexpr int kMostGpus = 1024;

std::optional<int> parse_count(std::string_view text, int least, int most) {
  int count = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, count);
  if (error != std::errc{} || last != end || count < least || count > most) return std::nullopt;
  return count;
}

/// What stands before the first `mark`, which is taken off with it.
std::string_view take_until(char mark, std::string_view& rest) {
  const std::size_t at = rest.find(mark);
  const std::string_view taken = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + 1);
  return taken;
}

/// "0,1/2": GPU 0 once and GPU 1 twice. Empty where it is none.
std::vector<int> parse_gpus(std::string_view rest) {
  std::vector<int> gpus;
  if (rest.empty() || rest.back() == ',') return {};
  while (!rest.empty()) {
    std::string_view devices = take_until(',', rest);
    const bool shared = devices.find('/') != std::string_view::npos;
    const auto gpu = parse_count(take_until('/', devices), 0, kMostGpus - 1);
    const auto times = shared ? parse_count(devices, 1, kGpuDeviceLimit) : 1;
    if (!gpu || !times || *times + gpus.size() > kGpuDeviceLimit) return {};
    gpus.insert(gpus.end(), static_cast<std::size_t>(*times), *gpu);
  }
  return gpus;
}

}  // namespace

DeviceList parse_device_list(const std::string& devices) {
  constexpr std::string_view kCpu = "cpu:", kCuda = "cuda:";
  std::string_view text = devices;
  DeviceList list;
  if (text.starts_with(kCpu)) {
    list.cpus = parse_count(text.substr(kCpu.size()), 1, kCpuDeviceLimit).value_or(0);
  }
  if (text.starts_with(kCuda)) list.gpus = parse_gpus(text.substr(kCuda.size()));
  if (list.cpus > 0 || !list.gpus.empty()) return list;
  throw InputError(
      fmt::format("no devices '{}'; allowed: cpu:N (N from 1 to {}), cuda:I,J (GPUs), cuda:I/N (N "
                  "devices on GPU I, up to {})",
                  devices, kCpuDeviceLimit, kGpuDeviceLimit));
}

std::string print(const DeviceList& list) {
  if (list.cpus > 0) return fmt::format("cpu:{}", list.cpus);
  std::string text;
  for (auto at = list.gpus.begin(); at != list.gpus.end();) {
    const auto next = std::find_if(at, list.gpus.end(), [&](int gpu) { return gpu != *at; });
    text += fmt::format("{}{}", text.empty() ? "cuda:" : ",", *at);
    if (next - at > 1) text += fmt::format("/{}", next - at);
    at = next;
  }
  return text;
}

DeviceList first(const DeviceList& list, std::size_t count) {
  if (list.cpus > 0) return {static_cast<int>(count), {}};
  return {0, {list.gpus.begin(), list.gpus.begin() + static_cast<std::ptrdiff_t>(count)}};
}

}  // namespace strata
