// The tests of exec/cuda on a real GPU: what host_device.h offers is the host's alone, so that
// nothing is left of it, and without a GPU all tests are skipped, with the reason.

#include <string>

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "exec/cuda/device/device.h"
#include "sim/base/error.h"
#include "tests/exec/cuda/host_device.h"
#include "tests/exec/cuda/lost_gpu.h"

namespace strata::cuda {
namespace host {

bool stands_for_gpus() {
  return false;
}
void draw_orders_from(std::uint64_t) {}
void set_gpus(int) {}

}  // namespace host

namespace {

/// Why there is none; empty where there is one.
std::string missing_gpu() try {
  gpus();
  return "";
} catch (const EnvironmentError& error) {
  return error.message();
}

/// Of the GPU that this thread used last. A call's own error is forgotten when it is asked for; one
/// that ended the context comes again. A GPU whose memory others have is not lost: a test that
/// found none has said so.
std::string why_lost() {
  cudaDeviceSynchronize();
  cudaGetLastError();
  const cudaError_t status = cudaDeviceSynchronize();
  const bool works = status == cudaSuccess || status == cudaErrorMemoryAllocation;
  return works ? "" : cudaGetErrorString(status);
}

class NeedsGpu : public ::testing::Environment {
 public:
  void SetUp() override {
    const std::string reason = missing_gpu();
    if (!reason.empty()) GTEST_SKIP() << reason;
    ::testing::UnitTest::GetInstance()->listeners().Append(new EndWhenGpuIsLost(why_lost));
  }
};

}  // namespace
}  // namespace strata::cuda

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  ::testing::AddGlobalTestEnvironment(new strata::cuda::NeedsGpu);
  return RUN_ALL_TESTS();
}
