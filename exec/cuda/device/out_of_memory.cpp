#include "exec/cuda/device/out_of_memory.h"

#include <optional>

#include <fmt/format.h>

#include "exec/cuda/device/device.h"
#include "sim/base/error.h"

namespace strata::cuda {
namespace {

std::string free_text(int gpu, std::string_view unit) {
  const std::optional<std::int64_t> bytes = free_memory(gpu);
  return bytes ? fmt::format("{}{} are free", *bytes, unit) : "how much is free is not known";
}

}  // namespace

std::string out_of_memory(int gpu, std::int64_t bytes) {
  return fmt::format("out of memory: GPU {} has no room for {} bytes more; {}", gpu, bytes,
                     free_text(gpu, ""));
}

std::string out_of_memory(int gpu, std::string_view doing, std::string_view words) {
  return fmt::format("out of memory: GPU {} has no room for {}; {} ({})", gpu, doing,
                     free_text(gpu, " bytes"), words);
}

void throw_refusal(std::string_view library, const std::string& words, bool no_memory) {
  if (take_last_error() == "cudaErrorMemoryAllocation") no_memory = true;
  throw EnvironmentError(no_memory ? out_of_memory(gpu_in_use(), library, words) : words);
}

}  // namespace strata::cuda
