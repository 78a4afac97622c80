#include "exec/cpu/cpu_backend.h"

#include <cstring>
#include <fstream>

#include <dnnl.h>
#include <fmt/format.h>
#include <sched.h>

#include "exec/cpu/combine.h"
#include "exec/cpu/kernels.h"
#include "exec/cpu/move.h"
#include "exec/cpu/onednn.h"
#include "sim/base/error.h"

namespace strata::cpu {
namespace {

std::vector<int> usable_cores() {
  cpu_set_t set;
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

// What oneDNN may use of this processor, and is not told not to use.
std::string_view instruction_set() {
  switch (dnnl_get_effective_cpu_isa()) {
    case dnnl_cpu_isa_sse41:
      return "SSE4.1";
    case dnnl_cpu_isa_avx:
      return "AVX";
    case dnnl_cpu_isa_avx2:
      return "AVX2";
    case dnnl_cpu_isa_avx2_vnni:
      return "AVX2-VNNI";
    case dnnl_cpu_isa_avx512_core:
      return "AVX-512";
    case dnnl_cpu_isa_avx512_core_vnni:
      return "AVX-512-VNNI";
    case dnnl_cpu_isa_avx512_core_bf16:
      return "AVX-512-BF16";
    case dnnl_cpu_isa_avx512_core_amx:
      return "AVX-512-AMX";
    default:
      return "another instruction set";
  }
}

}  // namespace

CpuBackend::CpuBackend(std::size_t devices) : cores_(usable_cores()) {
  for (std::size_t d = 0; d < devices; ++d) pools_.push_back(std::make_unique<MemoryPool>());
}

std::string CpuBackend::device_name(DeviceId device) const {
  return fmt::format("cpu{}", device());
}

std::string CpuBackend::description() const {
  std::ifstream info("/proc/cpuinfo");
  std::string model = "unknown processor";
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with("model name")) continue;
    const auto at = line.find(": ");
    if (at != std::string::npos) model = line.substr(at + 2);
    break;
  }
  const dnnl_version_t* v = dnnl_version();
  return fmt::format("{}, {} cores, oneDNN {}.{}.{} with {}", model, cores_.size(), v->major,
                     v->minor, v->patch, instruction_set());
}

void CpuBackend::enter(DeviceId device) {
  compute_alone();
  if (cores_.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cores_[device() % cores_.size()], &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) {
    throw EnvironmentError(fmt::format("cannot pin the thread to a core: {}", strerror(errno)));
  }
}

std::unique_ptr<Kernel> CpuBackend::make_kernel(DeviceId, const ShardSpec& spec) {
  return cpu::make_kernel(spec);
}

std::int64_t CpuBackend::bytes(const Box& box) const {
  return places(box) * static_cast<std::int64_t>(sizeof(float));
}

std::int64_t CpuBackend::places(const Box& box) const {
  return padded_size(extents(box));
}

void* CpuBackend::allocate(DeviceId device, std::int64_t bytes) {
  return pools_[device()]->take(bytes);
}

void CpuBackend::release(DeviceId device, void* memory) {
  pools_[device()]->give_back(memory);
}

void CpuBackend::clear(const Region& to) {
  fill_zero(Tensor(to));
}

void CpuBackend::copy(const Region& to, const Region& from, const Box& box) {
  cpu::copy(Tensor(to), Tensor(from), box);
}

void CpuBackend::add(const Region& to, const Region& from, const Box& box) {
  cpu::add(Tensor(to), Tensor(from), box);
}

void CpuBackend::sum(const Region& to, std::span<const Region> from) {
  std::vector<Tensor> parts;
  for (const Region& region : from) parts.emplace_back(region);
  cpu::sum(Tensor(to), parts);
}

void CpuBackend::copy_values(float* to, const float* from, std::int64_t count) {
  std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
}

void CpuBackend::add_values(float* to, const float* from, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] += from[i];
}

void CpuBackend::combine(Combination how, float* to, std::span<const float* const> parts,
                         std::span<const std::int64_t> counts, std::int64_t begin,
                         std::int64_t end) {
  cpu::combine(how, to, parts, counts, begin, end);
}

void CpuBackend::update(const Operands& operands, std::int64_t count) {
  update_parameters(operands, count);
}

void CpuBackend::pack(float* to, const Region& from, const Box& box) {
  cpu::pack(to, Tensor(from), box);
}

void CpuBackend::unpack(const Region& to, const float* from, const Box& box) {
  cpu::unpack(Tensor(to), from, box);
}

void CpuBackend::load(const Region& to, const float* plain, const Extents& whole) {
  cpu::load(Tensor(to), plain, whole);
}

void CpuBackend::store(float* plain, const Extents& whole, const Region& from) {
  cpu::store(plain, whole, Tensor(from));
}

}  // namespace strata::cpu
