// Devices that share a GPU, and the multiprocessors that each of them gets.

#include "exec/cuda/device/gpu_part.h"

#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "exec/cuda/run/cuda_backend.h"
#include "exec/cuda/run/part_trial.h"
#include "sim/base/error.h"
#include "tests/exec/cuda/harness.h"
#include "tests/exec/cuda/host_device.h"
#include "tests/exec/cuda/kept_parts.h"

namespace strata::cuda {
namespace {

std::string described(const std::vector<int>& gpus) {
  return tried_parts(gpus).description();
}

class GpuPartTest : public ::testing::Test {
 protected:
  ~GpuPartTest() override {
    host::set_green_contexts(true);
    host::refuse_on_green(host::Refused::nothing);
    ::unsetenv("STRATA_CUDA_PARTITIONS");
  }
};

// 132 in whole eights: 66, 44, 33, 26.4, 22, 16.5, 8.25.
TEST(LargestGroup, IsAWholeNumberOfSteps) {
  std::vector<int> sizes;
  for (int count : {2, 3, 4, 5, 6, 8, 16}) sizes.push_back(largest_group(132, count, 8, 8));
  EXPECT_EQ(sizes, (std::vector{64, 40, 32, 24, 16, 16, 8}));
}

TEST(LargestGroup, IsNoneWhereItWouldBeTooSmall) {
  EXPECT_EQ(largest_group(132, 17, 8, 8), 0);
  EXPECT_EQ(largest_group(26, 16, 4, 2), 0);
  EXPECT_EQ(largest_group(26, 6, 4, 2), 4);
  EXPECT_EQ(largest_group(6, 4, 1, 1), 1);
}

TEST_F(GpuPartTest, AGpuOfOneDeviceIsWhole) {
  const GpuParts parts = tried_parts(std::vector{1, 0});
  for (const GpuPart& one : parts.of_devices) {
    EXPECT_EQ(one.kind, GpuPartKind::whole);
    EXPECT_EQ(one.multiprocessors, 132);
    EXPECT_EQ(one.green, nullptr);
  }
  EXPECT_EQ(described({0}), "132 SMs");
}

TEST_F(GpuPartTest, DevicesOfOneGpuHaveGroupsOfTheirOwn) {
  const GpuParts parts = tried_parts(std::vector{0, 0, 0, 0});
  for (const GpuPart& one : parts.of_devices) {
    EXPECT_EQ(one.kind, GpuPartKind::green);
    EXPECT_EQ(one.multiprocessors, 32);
    EXPECT_EQ(one.green.use_count(), 1) << "two devices have the same group";
  }
  EXPECT_EQ(described({0, 0, 0, 0}), "4 x 32 of 132 SMs");
}

TEST_F(GpuPartTest, EachGpuIsToldOf) {
  EXPECT_EQ(described({0, 3, 0}), "GPU 0: 2 x 64 of 132 SMs; GPU 3: 132 SMs");
}

TEST_F(GpuPartTest, WithoutGreenContextsAllUseAllMultiprocessors) {
  host::set_green_contexts(false);
  const GpuParts parts = tried_parts(std::vector{0, 0});
  for (const GpuPart& one : parts.of_devices) {
    EXPECT_EQ(one.kind, GpuPartKind::shared);
    EXPECT_EQ(one.multiprocessors, 132);
  }
  EXPECT_EQ(parts.description(),
            "2 devices share 132 SMs (no green contexts: this driver has none)");
}

TEST_F(GpuPartTest, SoTheyDoWhereItIsAskedFor) {
  ::setenv("STRATA_CUDA_PARTITIONS", "shared", 1);
  EXPECT_EQ(described({0, 0}),
            "2 devices share 132 SMs (no green contexts: STRATA_CUDA_PARTITIONS=shared)");
  ::setenv("STRATA_CUDA_PARTITIONS", "green", 1);
  EXPECT_EQ(described({0, 0}), "2 x 64 of 132 SMs");
  ::setenv("STRATA_CUDA_PARTITIONS", "blue", 1);
  EXPECT_THROW(described({0, 0}), InputError);
}

// A trial makes a recording in each precision.
TEST_F(GpuPartTest, OfOneListIsTriedOnceByTests) {
  const std::vector<int> gpus = {1, 0, 1, 0};
  const std::size_t before = host::recordings();
  const GpuParts& first = kept_parts(gpus);
  EXPECT_EQ(host::recordings(), before + 2 * 3);
  EXPECT_EQ(&kept_parts(gpus), &first);
  EXPECT_EQ(host::recordings(), before + 2 * 3);
  const HostGpus site(Precision::fp32);
  const std::size_t after = host::recordings();
  const HostGpus other(Precision::bf16);
  EXPECT_EQ(host::recordings(), after);
}

TEST_F(GpuPartTest, AStreamKeepsItsGroup) {
  const int before = host::green_contexts_alive();
  {
    Stream stream(tried_parts(std::vector{0, 0}).of_devices[1]);
    EXPECT_EQ(host::green_contexts_alive(), before + 1);
    stream.finish();
  }
  EXPECT_EQ(host::green_contexts_alive(), before);
}

TEST_F(GpuPartTest, ABackendsDevicesSitOnThem) {
  const int before = host::green_contexts_alive();
  {
    CudaBackend backend(std::vector{0, 1, 0}, Precision::fp32);
    EXPECT_EQ(backend.seat(DeviceId(0)).part().multiprocessors, 64);
    EXPECT_EQ(backend.seat(DeviceId(1)).part().multiprocessors, 132);
    EXPECT_EQ(backend.seat(DeviceId(2)).part().kind, GpuPartKind::green);
    EXPECT_EQ(host::green_contexts_alive(), before + 2);
  }
  EXPECT_EQ(host::green_contexts_alive(), before);
}

struct Refusal {
  host::Refused what;
  const char* words;
};

class RefusedOnGreen : public GpuPartTest, public ::testing::WithParamInterface<Refusal> {};

// Contexts are made in each case, and the trial of one finds what they are good for.
TEST_P(RefusedOnGreen, LeavesAllMultiprocessorsToAllWithTheReason) {
  const int before = host::green_contexts_alive();
  host::refuse_on_green(GetParam().what);
  CudaBackend backend(std::vector{0, 0}, Precision::fp32);
  EXPECT_EQ(described({0, 0}),
            std::string("2 devices share 132 SMs (no green contexts: one was tried: ") +
                GetParam().words + ")");
  EXPECT_EQ(backend.seat(DeviceId(1)).part().kind, GpuPartKind::shared);
  EXPECT_EQ(host::green_contexts_alive(), before);
}

// What is refused there goes on here: the trial itself says so.
TEST_P(RefusedOnGreen, IsNotOfSharedParts) {
  host::refuse_on_green(GetParam().what);
  CudaBackend backend(std::vector{0, 0}, Precision::fp32);
  EXPECT_NO_THROW(try_seat(backend.seat(DeviceId(0))));
  EXPECT_NO_THROW(try_seat(backend.seat(DeviceId(1))));
}

INSTANTIATE_TEST_SUITE_P(
    Driver, RefusedOnGreen,
    ::testing::Values(Refusal{host::Refused::stream, "making a stream: not on a green one"},
                      Refusal{host::Refused::kernel, "launching a kernel: not on a green one"},
                      Refusal{host::Refused::later, "running what was asked for: a kernel failed"},
                      Refusal{host::Refused::event, "recording an event: not on a green one"},
                      Refusal{host::Refused::recording,
                              "beginning to record: not on a green one"}));

TEST_F(GpuPartTest, ADeviceOfItsOwnIsNotTried) {
  std::size_t tried = 0;
  const PartTrial trial = [&](const GpuPart&) { ++tried; };
  GpuParts(std::vector{0, 1}, trial);
  EXPECT_EQ(tried, 0U);
  GpuParts(std::vector{0, 0, 1, 1, 1, 2}, trial);
  EXPECT_EQ(tried, 2U);
}

}  // namespace
}  // namespace strata::cuda
