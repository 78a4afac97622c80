// exec_cuda_gpu_overheads: what the first GPU takes for what no prediction has a row for, as JSON
// (overheads.h). Parts that fail are left out and named in "failed", with the reason. Exit code 3
// where there is no GPU, it is not able, or a part failed.

#include <cstdint>
#include <functional>
#include <string>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "tests/exec/cuda/overheads.h"

namespace strata::cuda {
namespace {

using Json = nlohmann::ordered_json;

/// Where the part can't be measured, "failed" says why not.
void put(Json& json, const std::string& part, const std::function<void()>& measure) try {
  measure();
} catch (const Error& error) {
  json["failed"][part] = error.message();
  fmt::print(stderr, "exec_cuda_gpu_overheads: error: {}: {}\n", part, error.message());
}

void put_all(Json& json) {
  constexpr std::int64_t kKib = 1024, kMib = kKib * kKib;
  put(json, "streams", [&] {
    Stream stream(0);
    json.update(stream_overheads(stream, {4 * kKib, 64 * kKib, kMib, 16 * kMib, 128 * kMib}));
  });
  const auto put_library = [&](const std::string& name, Precision precision) {
    put(json, name, [&] {
      Seat seat(0, precision);
      json[name] = library_overheads(seat);
    });
  };
  put_library("fp32", Precision::fp32);
  put_library("tf32", Precision::tf32);
  put_library("bf16", Precision::bf16);
}

}  // namespace
}  // namespace strata::cuda

int main() try {
  nlohmann::ordered_json json = {{"gpu", strata::cuda::gpus().front().name}};
  strata::cuda::put_all(json);
  fmt::print("{}\n", json.dump(1));
  return json.contains("failed") ? 3 : 0;
} catch (const strata::Error& error) {
  fmt::print(stderr, "exec_cuda_gpu_overheads: error: {}\n", error.message());
  return error.exit_code();
}
