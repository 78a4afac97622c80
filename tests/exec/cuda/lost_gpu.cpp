#include "tests/exec/cuda/lost_gpu.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

namespace strata::cuda {

EndWhenGpuIsLost::EndWhenGpuIsLost(std::function<std::string()> why_lost)
    : why_lost_(std::move(why_lost)) {}

// Not by exit(): what static objects still hold of the GPU can't be given back.
void EndWhenGpuIsLost::OnTestEnd(const ::testing::TestInfo& test) {
  const std::string why = why_lost_();
  if (why.empty()) return;
  fmt::print(stderr, "error: the GPU is lost after {}.{}: {}\n", test.test_suite_name(),
             test.name(), why);
  std::fflush(nullptr);
  std::_Exit(kGpuLost);
}

}  // namespace strata::cuda
