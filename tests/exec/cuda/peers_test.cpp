#include "exec/cuda/peers/peers.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "exec/cuda/device/launch.h"
#include "sim/base/error.h"
#include "tests/exec/cuda/gpu_array.h"
#include "tests/exec/cuda/host_device.h"

namespace strata::cuda {
namespace {

using Values = std::vector<float>;

class PeersTest : public ::testing::Test {
 protected:
  PeersTest() {
    host::draw_orders_from(1);
    for (int gpu = 0; gpu < 3; ++gpu) streams_.push_back(std::make_unique<Stream>(gpu));
  }
  ~PeersTest() override { host::join_all(); }

  PeerPart part(std::size_t device, GpuArray<float>& values, float* all = nullptr) {
    return {DeviceId(device), streams_[device].get(), values.data(), all};
  }

  const DeviceSet all_{DeviceId(2), DeviceId(0), DeviceId(1)}, two_{DeviceId(0), DeviceId(1)};
  std::vector<std::unique_ptr<Stream>> streams_;
  Peers peers_{std::vector<int>{0, 1, 2}, nullptr};
};

TEST_F(PeersTest, SumInPlace) {
  GpuArray<float> c(*streams_[2], Values{1, 2}), a(*streams_[0], Values{10, 20}),
      b(*streams_[1], Values{100, 200});
  peers_.meet(all_);
  const std::vector<PeerPart> parts = {part(2, c), part(0, a), part(1, b)};
  peers_.sum(all_, parts, 2);
  for (const auto* values : {&a, &b, &c}) EXPECT_EQ(values->get(), (Values{111, 222}));
}

TEST_F(PeersTest, GatherInTheOrderOfTheSet) {
  const Values nothing(6);
  GpuArray<float> c(*streams_[2], Values{1, 2}), a(*streams_[0], Values{3, 4}),
      b(*streams_[1], Values{5, 6});
  GpuArray<float> at_c(*streams_[2], nothing), at_a(*streams_[0], nothing),
      at_b(*streams_[1], nothing);
  peers_.meet(all_);
  const std::vector<PeerPart> parts = {part(2, c, at_c.data()), part(0, a, at_a.data()),
                                       part(1, b, at_b.data())};
  peers_.gather(all_, parts, 2);
  for (const auto* values : {&at_a, &at_b, &at_c}) {
    EXPECT_EQ(values->get(), (Values{1, 2, 3, 4, 5, 6}));
  }
}

// Parts of a sum, of whatever sizes, where they lie; and back.
TEST_F(PeersTest, ScatterASumAndGatherItsParts) {
  const std::vector<Interval> intervals = {{0, 2}, {2, 3}, {3, 3}};
  GpuArray<float> c(*streams_[2], Values{1, 2, 3}), a(*streams_[0], Values{10, 20, 30}),
      b(*streams_[1], Values{100, 200, 300});
  peers_.meet(all_);
  peers_.scatter(all_,
                 std::vector<PeerPart>{part(2, c, c.data()), part(0, a, a.data() + 2),
                                       part(1, b, b.data() + 3)},
                 intervals);
  EXPECT_EQ(c.get(), (Values{111, 222, 3}));
  EXPECT_EQ(a.get(), (Values{10, 20, 333}));
  EXPECT_EQ(b.get(), (Values{100, 200, 300}));
  PeerPart own = part(0, a, a.data());
  own.values += 2;
  peers_.gather_parts(all_, std::vector<PeerPart>{part(2, c, c.data()), own, part(1, b, b.data())},
                      intervals);
  for (const auto* values : {&a, &b, &c}) EXPECT_EQ(values->get(), (Values{111, 222, 333}));
}

// Each stream's work before a sum is done before any stream's after it.
TEST_F(PeersTest, NobodyIsDoneBeforeAllHaveCome) {
  peers_.meet(two_);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    host::draw_orders_from(seed);
    GpuArray<float> a(*streams_[0], Values{1}), b(*streams_[1], Values{2});
    std::string done;
    for (int k : {0, 1}) put_on(*streams_[static_cast<std::size_t>(k)], [&done] { done += "b"; });
    const std::vector<PeerPart> parts = {part(0, a), part(1, b)};
    peers_.sum(two_, parts, 1);
    for (int k : {0, 1}) put_on(*streams_[static_cast<std::size_t>(k)], [&done] { done += "a"; });
    for (const auto& stream : streams_) stream->finish();
    EXPECT_EQ(done, "bbaa") << "seed " << seed;
  }
}

// Two streams that come to two meetings in different orders never get on.
TEST_F(PeersTest, AWrongOrderIsNoticed) {
  const auto first = std::make_shared<host::Meeting>(host::Meeting{2, [] {}});
  const auto second = std::make_shared<host::Meeting>(host::Meeting{2, [] {}});
  Stream other(3), another(4);
  host::meet(other, first), host::meet(other, second);
  host::meet(another, second), host::meet(another, first);
  EXPECT_THROW(other.finish(), InternalError);
}

TEST_F(PeersTest, LoopsAreGivenNoMemoryOutOfReach) {
  if (!kHoldsWords) GTEST_SKIP() << "this compiler cannot clear the padding of a loop";
  GpuArray<float> a(*streams_[0], Values{1}), b(*streams_[1], Values{2});
  host::keep_apart(0, 1);
  const auto adds = [](float* to, const float* from) {
    return [=](std::int64_t) { *to += *from; };
  };
  EXPECT_NO_THROW(each(*streams_[0], 1, adds(a.data(), a.data())));
  EXPECT_THROW(each(*streams_[0], 1, adds(a.data(), b.data())), InternalError);
  EXPECT_NO_THROW(copy(a.data(), b.data(), 4, *streams_[0]));
  streams_[0]->finish();  // before b's memory goes
  EXPECT_EQ(can_reach(0, 1), false);
  EXPECT_EQ(can_reach(0, 2), true);
}

}  // namespace
}  // namespace strata::cuda
