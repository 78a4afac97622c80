#include "exec/cuda/streams/device_memory.h"

#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "exec/cuda/device/launch.h"
#include "exec/cuda/device/out_of_memory.h"
#include "sim/base/error.h"
#include "tests/exec/cuda/host_device.h"

namespace strata::cuda {
namespace {

constexpr std::int64_t kMegabyte = 1 << 20;

class DeviceMemoryTest : public ::testing::Test {
 protected:
  ~DeviceMemoryTest() override { host::set_memory(std::int64_t{1} << 40U); }

  void* take(std::int64_t bytes, std::uint32_t stream = 0) {
    return memory_.take(bytes, stream, order_);
  }

  Stream first_{0}, second_{0};
  std::vector<Stream*> streams_{&first_, &second_};
  Order order_{streams_};
  DeviceMemory memory_{0};
};

TEST_F(DeviceMemoryTest, IsGivenOutAgain) {
  void* a = take(3 * kMegabyte);
  const std::int64_t taken = host::memory_taken();
  memory_.give_back(a, {});
  EXPECT_EQ(take(2 * kMegabyte), a);
  take(kMegabyte);
  EXPECT_EQ(host::memory_taken(), taken);
  EXPECT_EQ(memory_.peak(), 3 * kMegabyte);
}

TEST_F(DeviceMemoryTest, NeighboursJoin) {
  void* a = take(20 * kMegabyte);
  void* b = take(12 * kMegabyte);
  const std::int64_t taken = host::memory_taken();
  memory_.give_back(b, {});
  memory_.give_back(a, {});
  EXPECT_EQ(take(32 * kMegabyte), a);
  EXPECT_EQ(host::memory_taken(), taken);
}

// The second stream writes where the first one still may read.
TEST_F(DeviceMemoryTest, WhoGetsItComesAfterItsUsers) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    host::draw_orders_from(seed);
    auto* a = static_cast<int*>(take(sizeof(int)));
    int read = 0;
    put_on(first_, [=] { *a = 1; });
    put_on(first_, [=, &read] { read = *a; });
    memory_.give_back(a, {order_.mark(0)});
    auto* b = static_cast<int*>(take(sizeof(int), 1));
    ASSERT_EQ(a, b);
    put_on(second_, [=] { *b = 2; });
    memory_.give_back(b, {order_.mark(1)});
    second_.finish();
    EXPECT_EQ(read, 1) << "seed " << seed;
  }
}

// Each part of a block that is cut knows the users of the whole, and a block that is joined the
// users of both its parts.
TEST_F(DeviceMemoryTest, CutAndJoinedBlocksKnowTheirUsers) {
  void* a = take(8 * kMegabyte);
  put_on(first_, [] {});
  const Ticket user = order_.mark(0);
  memory_.give_back(a, {user});
  take(kMegabyte);
  EXPECT_FALSE(order_.knows(1, user));
  take(kMegabyte, 1);
  EXPECT_TRUE(order_.knows(1, user));
  first_.finish();
  second_.finish();
}

TEST_F(DeviceMemoryTest, SaysThatThereIsNoMore) {
  host::set_memory(host::memory_taken() + 40 * kMegabyte);
  take(30 * kMegabyte);
  EXPECT_NO_THROW(take(8 * kMegabyte));  // less than is asked for at once, but there is room
  try {
    take(9 * kMegabyte);
    FAIL();
  } catch (const EnvironmentError& error) {
    EXPECT_EQ(error.message(),
              "out of memory: GPU 0 has no room for 9437184 bytes more; 0 are free");
  }
}

// CUDA leaves behind what it refused a library, which may only say that something failed.
TEST_F(DeviceMemoryTest, SaysWhatALibraryFoundNoRoomFor) {
  host::set_memory(host::memory_taken() + 4096);
  const auto said = [](bool no_memory) -> std::string {
    try {
      throw_refusal("cuDNN", "an engine failed", no_memory);
    } catch (const EnvironmentError& error) {
      return error.message();
    }
  };
  const std::string no_room =
      "out of memory: GPU 0 has no room for cuDNN; 4096 bytes are free (an engine failed)";
  EXPECT_EQ(said(false), "an engine failed");
  EXPECT_EQ(said(true), no_room);
  host::refuse_launch("cudaErrorMemoryAllocation");
  EXPECT_EQ(said(false), no_room);
  EXPECT_EQ(said(false), "an engine failed");
}

// Two steps of different shapes need no more than the larger of them, even where no piece that the
// first one left is large enough.
TEST_F(DeviceMemoryTest, WhatLiesFreeGoesBackWhereTheGpuHasNoMore) {
  host::set_memory(host::memory_taken() + 80 * kMegabyte);
  void* a = take(40 * kMegabyte);
  void* b = take(40 * kMegabyte);
  memory_.give_back(a, {});
  memory_.give_back(b, {});
  void* both = take(79 * kMegabyte);
  memory_.give_back(both, {});
  EXPECT_NO_THROW(take(80 * kMegabyte));
}

// Not under who still uses a part of it.
TEST_F(DeviceMemoryTest, WhatLiesFreeBesideItOnTheGpuGoesBackToo) {
  DeviceMemory other{0};
  memory_.share_with(other);
  void* a = take(40 * kMegabyte);
  void* b = take(40 * kMegabyte);
  host::set_memory(100 * kMegabyte);
  EXPECT_THROW(other.take(50 * kMegabyte, 1, order_), EnvironmentError);
  memory_.give_back(a, {});
  EXPECT_NE(other.take(50 * kMegabyte, 1, order_), nullptr);
  EXPECT_EQ(host::memory_taken(), 90 * kMegabyte);
  memory_.give_back(b, {});
}

TEST_F(DeviceMemoryTest, PiecesOfWhatIsInUseStay) {
  const std::int64_t before = host::memory_taken();
  host::set_memory(before + 80 * kMegabyte);
  take(kMegabyte);  // of the 32 that are asked for at least
  memory_.give_back(take(45 * kMegabyte), {});
  EXPECT_THROW(take(49 * kMegabyte), EnvironmentError);
  EXPECT_EQ(host::memory_taken(), before + 32 * kMegabyte);
  EXPECT_NO_THROW(take(46 * kMegabyte));
}

// Whatever is taken and given back: blocks that are out never overlap.
TEST_F(DeviceMemoryTest, BlocksNeverOverlap) {
  std::mt19937 random(1);
  std::map<char*, std::int64_t> out;
  for (int i = 0; i < 2000; ++i) {
    if (out.empty() || random() % 2 == 0) {
      const auto bytes = static_cast<std::int64_t>(1 + random() % (4 * kMegabyte));
      auto* block = static_cast<char*>(take(bytes));
      const auto after = out.lower_bound(block);
      if (after != out.end()) {
        ASSERT_LE(block + bytes, after->first);
      }
      if (after != out.begin()) {
        ASSERT_LE(std::prev(after)->first + std::prev(after)->second, block);
      }
      out[block] = bytes;
    } else {
      const auto at = std::next(out.begin(), random() % out.size());
      memory_.give_back(at->first, {});
      out.erase(at);
    }
  }
  for (const auto& [block, bytes] : out) memory_.give_back(block, {});
}

}  // namespace
}  // namespace strata::cuda
