// exec_cuda_gpu_overheads: what the first GPU takes for what no prediction has a row for, as JSON
// (overheads.h). Exit code 3 where there is no GPU, or it is not able.

#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "tests/exec/cuda/overheads.h"

int main() try {
  using namespace strata::cuda;
  constexpr std::int64_t kKib = 1024, kMib = kKib * kKib;
  const Gpu gpu = gpus().front();
  Seat fp32(0, Precision::fp32), tf32(0, Precision::tf32), bf16(0, Precision::bf16);
  nlohmann::ordered_json json = {{"gpu", gpu.name}};
  json.update(stream_overheads(fp32.stream(), {4 * kKib, 64 * kKib, kMib, 16 * kMib, 128 * kMib}));
  json["fp32"] = library_overheads(fp32);
  json["tf32"] = library_overheads(tf32);
  json["bf16"] = library_overheads(bf16);
  fmt::print("{}\n", json.dump(1));
  return 0;
} catch (const strata::Error& error) {
  fmt::print(stderr, "exec_cuda_gpu_overheads: error: {}\n", error.message());
  return error.exit_code();
}
