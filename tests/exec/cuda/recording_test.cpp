// Recordings: what is kept, when it is done, and what can't be recorded.

#include "exec/cuda/device/recording.h"

#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "exec/cuda/device/launch.h"
#include "exec/cuda/run/queue_times.h"
#include "exec/cuda/streams/order.h"
#include "exec/cuda/streams/seat.h"
#include "sim/base/error.h"
#include "tests/exec/cuda/host_device.h"

namespace strata::cuda {
namespace {

/// value = 10 value + digit.
struct Append {
  std::int64_t* value;
  std::int64_t digit;
  STRATA_ANYWHERE void operator()(std::int64_t) const { *value = 10 * *value + digit; }
};

class RecordingTest : public ::testing::Test {
 protected:
  RecordingTest() {
    for (int i = 0; i < 3; ++i) {
      streams_.push_back(std::make_unique<Stream>(0));
      pointers_.push_back(streams_.back().get());
    }
    order_ = std::make_unique<Order>(pointers_);
    clear(memory_.data(), memory_.bytes(), *streams_[0]);
    order_->spread(0);
  }

  void append(std::uint32_t stream, std::int64_t digit) {
    each(*streams_[stream], 1, Append{static_cast<std::int64_t*>(memory_.data()), digit});
  }
  /// After all streams are done.
  std::int64_t value() {
    for (const auto& stream : streams_) stream->finish();
    std::int64_t held = 0;
    copy(&held, memory_.data(), sizeof held, *streams_[0]);
    streams_[0]->finish();
    return held;
  }
  /// 1 on the first stream, then 2 on the second, then 3 on the first.
  Recorded record() {
    order_->gather(0);
    Recording recording(*streams_[0]);
    append(0, 1);
    order_->spread(0);
    append(1, 2);
    order_->gather(0);
    append(0, 3);
    return recording.end();
  }

  LastingMemory memory_{0, sizeof(std::int64_t)};
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<Stream*> pointers_;
  std::unique_ptr<Order> order_;
};

TEST_F(RecordingTest, IsNotDoneUntilItIsPlayed) {
  Recorded recorded = record();
  EXPECT_EQ(value(), 0);
  recorded.play(*streams_[0]);
  EXPECT_EQ(value(), 123);
}

TEST_F(RecordingTest, IsPlayedInItsOwnOrderWhateverIsDrawn) {
  Recorded recorded = record();
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    host::draw_orders_from(seed);
    clear(memory_.data(), memory_.bytes(), *streams_[0]);
    recorded.play(*streams_[0]);
    recorded.play(*streams_[0]);
    ASSERT_EQ(value(), 123123) << seed;
  }
}

TEST_F(RecordingTest, IsPlayedInTheOrderOfItsStream) {
  Recorded recorded = record();
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    host::draw_orders_from(seed);
    clear(memory_.data(), memory_.bytes(), *streams_[0]);
    append(0, 7);
    recorded.play(*streams_[0]);
    order_->spread(0);
    append(2, 8);
    order_->gather(0);
    ASSERT_EQ(value(), 71238) << seed;
  }
}

// What is thrown away leaves the streams as they were.
TEST_F(RecordingTest, ThatDoesNotEndIsThrownAway) {
  {
    Recording recording(*streams_[0]);
    append(0, 1);
  }
  append(0, 2);
  EXPECT_EQ(value(), 2);
}

// The rest is what CUDA refuses, so the host that stands for GPUs has to.

TEST_F(RecordingTest, WaitsForNothingFromBefore) {
  append(1, 1);
  const Ticket before = order_->mark(1);
  Recording recording(*streams_[0]);
  EXPECT_THROW(order_->after(0, before), EnvironmentError);
}

TEST_F(RecordingTest, IsWaitedForByNobodyLater) {
  order_->gather(0);
  Ticket inside;
  Recording recording(*streams_[0]);
  append(0, 1);
  inside = order_->mark(0);
  Recorded recorded = recording.end();
  EXPECT_THROW(order_->after(1, inside), EnvironmentError);
}

TEST_F(RecordingTest, EndsWithAllStreamsTogether) {
  order_->gather(0);
  Recording recording(*streams_[0]);
  order_->spread(0);
  append(1, 2);
  EXPECT_THROW(recording.end(), EnvironmentError);
}

TEST_F(RecordingTest, KeepsWhoRecordsFromWaiting) {
  Recording recording(*streams_[0]);
  append(0, 1);
  EXPECT_THROW(streams_[0]->finish(), EnvironmentError);
}

TEST_F(RecordingTest, HasNothingOfTheHostsMemory) {
  std::int64_t held = 0;
  Recording recording(*streams_[0]);
  EXPECT_THROW(copy(memory_.data(), &held, sizeof held, *streams_[0]), EnvironmentError);
}

// A pool that finds no more gives back what lies free: the first piece's memory, here, for the
// second's, though neither was done yet.
TEST(RecordedTimes, AreNotReadWhereMemoryWentMeanwhile) {
  const std::int64_t megabyte = 1 << 20;
  CudaBackend backend(std::vector{0}, Precision::fp32);
  QueueTimes times(backend, true);
  const auto fill = [&](std::int64_t bytes) {
    backend.enter(DeviceId(0));
    void* const memory = backend.allocate(DeviceId(0), bytes);
    times.time(DeviceId(0), [&] { backend.fill_values(static_cast<float*>(memory), 1); });
    backend.give_back(DeviceId(0), memory);
  };
  const auto fill_recorded = [&](std::int64_t second) {
    const Held hold(times);
    fill(40 * megabyte);
    fill(second);
  };
  host::set_memory(host::memory_taken() + 80 * megabyte);
  host::let_recorded_memory_go(true);
  fill_recorded(40 * megabyte);
  EXPECT_EQ(times.read().size(), 2U);
  fill_recorded(60 * megabyte);
  EXPECT_THROW(times.read(), EnvironmentError);
  host::let_recorded_memory_go(false);
  host::set_memory(std::int64_t{1} << 40U);
}

}  // namespace
}  // namespace strata::cuda
