// A green context on which cuDNN or cuBLAS is refused something is of no use, whatever the driver
// makes of it: libraries whose plans are real and whose runs are made up.

#include "exec/cuda/run/part_trial.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "tests/exec/cuda/fake_cublas.h"
#include "tests/exec/cuda/fake_runs.h"
#include "tests/exec/cuda/plans.h"

namespace strata::cuda {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// Whether cuDNN refuses the stream, and the handles made and not destroyed: the library's functions
// have no place for state.
bool stream_refused = false;
int handles = 0;

// On a machine without a GPU its handle is none that plans could be made with.
void choose_cudnns_stream(Seat& seat) {
  auto cudnn = std::make_unique<Cudnn>();
  cudnn->create = [](cudnnHandle_t* to) {
    *to = reinterpret_cast<cudnnHandle_t>(&++handles);
    return CUDNN_STATUS_SUCCESS;
  };
  cudnn->destroy = [](cudnnHandle_t) {
    --handles;
    return CUDNN_STATUS_SUCCESS;
  };
  cudnn->set_stream = [](cudnnHandle_t, cudaStream_t) {
    return stream_refused ? CUDNN_STATUS_BAD_PARAM : CUDNN_STATUS_SUCCESS;
  };
  const CudnnSeat chosen(seat, std::move(cudnn));
}

class LibrariesOnGreen : public Plans {
 protected:
  void SetUp() override {
    Plans::SetUp();
    reset_fake_runs();
    stream_refused = false;
    fake_cublas() = {};
  }
  void TearDown() override { EXPECT_EQ(handles + fake_cublas().handles, 0); }
  static std::string described() {
    const auto trial = [](const GpuPart& part) {
      const auto seat = seat_with_fake_runs(part, Precision::bf16);
      choose_cudnns_stream(*seat);
      use_cublas(*seat, made_up_cublas(*seat));
      try_seat(*seat);
    };
    return GpuParts(std::vector{0, 0}, trial).description();
  }
  static std::string described_where_refused(CublasCall what) {
    fake_cublas().refused = what;
    return described();
  }
};

constexpr const char* kShared = "2 devices share 132 SMs (no green contexts: one was tried: ";

TEST_F(LibrariesOnGreen, ThatRunLeaveDevicesTheirParts) {
  EXPECT_EQ(described(), "2 x 64 of 132 SMs");
  EXPECT_EQ(fake_cublas().multiprocessors, 64);
  EXPECT_FALSE(fake_runs().runs.empty());
}

TEST_F(LibrariesOnGreen, MayRefuseTheStream) {
  EXPECT_THAT(described_where_refused(CublasCall::set_stream),
              AllOf(StartsWith(kShared), HasSubstr("cuBLAS: choosing a stream")));
  stream_refused = true;
  EXPECT_THAT(described(),
              AllOf(StartsWith(kShared), HasSubstr("cuDNN"), HasSubstr("choosing a stream")));
}

TEST_F(LibrariesOnGreen, MayRefuseToBeToldOfMultiprocessors) {
  EXPECT_THAT(described_where_refused(CublasCall::set_multiprocessors),
              AllOf(StartsWith(kShared), HasSubstr("cuBLAS: telling of multiprocessors")));
}

TEST_F(LibrariesOnGreen, MayRefuseAProductOfMatrices) {
  EXPECT_THAT(described_where_refused(CublasCall::multiply),
              AllOf(StartsWith(kShared), HasSubstr("cuBLAS: multiplying matrices")));
}

TEST_F(LibrariesOnGreen, MayHaveNoEngineThatRuns) {
  fake_runs().run = [](std::size_t, std::size_t) { return CUDNN_STATUS_EXECUTION_FAILED_CUDART; };
  EXPECT_THAT(described(), AllOf(StartsWith(kShared),
                                 HasSubstr("cuDNN: CUDNN_STATUS_EXECUTION_FAILED_CUDART (engine")));
}

TEST_F(LibrariesOnGreen, MayFailInAnEngine) {
  fake_runs().run = [](std::size_t, std::size_t) { return CUDNN_STATUS_INTERNAL_ERROR; };
  EXPECT_THAT(described(),
              AllOf(StartsWith(kShared), HasSubstr("trying engine"), HasSubstr("INTERNAL_ERROR")));
}

}  // namespace
}  // namespace strata::cuda
