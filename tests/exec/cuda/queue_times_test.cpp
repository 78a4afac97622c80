// Times of queued work: one for each call, in the calls' order, and whether the work began when it
// was let go.

#include "exec/cuda/run/queue_times.h"

#include <vector>

#include <gtest/gtest.h>

#include "tests/exec/cuda/host_device.h"

namespace strata::cuda {
namespace {

constexpr std::int64_t kCount = 1 << 20;

class QueueTimesTest : public ::testing::Test {
 protected:
  QueueTimesTest() : backend_(std::vector{0, 0}, Precision::fp32), times_(backend_) {
    for (DeviceId device : {DeviceId(0), DeviceId(1)}) {
      backend_.enter(device);
      values_.push_back(static_cast<float*>(
          backend_.allocate(device, kCount * static_cast<std::int64_t>(sizeof(float)))));
      // Its first launch loads a kernel, which may wait for the GPU: not behind a closed gate.
      backend_.fill_values(values_.back(), kCount);
    }
    backend_.finish();
  }
  ~QueueTimesTest() override {
    backend_.finish();
    for (DeviceId device : {DeviceId(0), DeviceId(1)}) {
      backend_.enter(device);
      backend_.release(device, values_[device()]);
    }
  }

  void fill(DeviceId device) {
    backend_.enter(device);
    times_.time(device, [&] { backend_.fill_values(values_[device()], kCount); });
  }

  CudaBackend backend_;
  QueueTimes times_;
  std::vector<float*> values_;
};

TEST_F(QueueTimesTest, AreOnePerCallAndReadOnce) {
  for (int round = 0; round < 2; ++round) {
    {
      const Held hold(times_);
      fill(DeviceId(1));
      fill(DeviceId(0));
      fill(DeviceId(1));
    }
    const std::vector<Seconds> read = times_.read();
    ASSERT_EQ(read.size(), 3U);
    for (Seconds time : read) EXPECT_GT(time, Seconds{});
    EXPECT_TRUE(times_.held());
    EXPECT_TRUE(times_.read().empty());
  }
}

// Else it would wait for ever.
TEST_F(QueueTimesTest, SayWhenADeviceWentOnByItself) {
  {
    const Held hold(times_);
    fill(DeviceId(0));
    backend_.finish();
  }
  EXPECT_EQ(times_.read().size(), 1U);
  EXPECT_FALSE(times_.held());
  fill(DeviceId(0));
  times_.read();
  EXPECT_TRUE(times_.held());
}

// What is held is recorded, and done when it is let go, however often: each time anew.
TEST_F(QueueTimesTest, OfARecordingAreThoseOfItsPlaying) {
  QueueTimes recorded(backend_, true);
  const auto fill = [&](DeviceId device) {
    backend_.enter(device);
    recorded.time(device, [&] { backend_.fill_values(values_[device()], kCount); });
  };
  for (int round = 0; round < 2; ++round) {
    fill(DeviceId(1));
    for (int layer = 0; layer < 2; ++layer) {
      const Held hold(recorded);
      fill(DeviceId(0));
      fill(DeviceId(1));
    }
    const std::vector<Seconds> read = recorded.read();
    ASSERT_EQ(read.size(), 5U);
    for (Seconds time : read) EXPECT_GT(time, Seconds{});
    EXPECT_TRUE(recorded.held());
  }
}

// Where a step's tasks follow one another there are no events between them. On the host that stands
// for GPUs a task takes a microsecond; other streams begin beside the first piece, whose tasks are
// so many that all have begun before the second one.
TEST(RecordedTimes, AreWithoutWhatTheirEventsAdd) {
  CudaBackend backend(std::vector{0}, Precision::fp32);
  backend.enter(DeviceId(0));
  auto* const values = static_cast<float*>(backend.allocate(DeviceId(0), sizeof(float)));
  QueueTimes recorded(backend, true);
  constexpr int kPieces = 9, kBeside = 200;
  {
    const Held hold(recorded);
    for (int piece = 0; piece < kPieces; ++piece) {
      recorded.time(DeviceId(0), [&] {
        const int tasks = piece == 0 ? kBeside : piece + 1;
        for (int task = 0; task < tasks; ++task) backend.fill_values(values, 1);
      });
    }
  }
  const std::vector<Seconds> read = recorded.read();
  backend.release(DeviceId(0), values);
  ASSERT_EQ(read.size(), kPieces);
  for (int piece = 0; piece < kPieces; ++piece) {
    EXPECT_GT(read[piece], Seconds{});
    if (host::stands_for_gpus() && piece > 0) {
      EXPECT_NEAR(read[piece].value, (piece + 1) * 1e-6, 1e-12);
    }
  }
}

}  // namespace
}  // namespace strata::cuda
