#include "exec/cuda/streams/order.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "exec/cuda/device/launch.h"
#include "tests/exec/cuda/host_device.h"

namespace strata::cuda {
namespace {

class OrderTest : public ::testing::Test {
 protected:
  OrderTest() {
    for (int i = 0; i < 3; ++i) {
      streams_.push_back(std::make_unique<Stream>(0));
      pointers_.push_back(streams_.back().get());
    }
    order_ = std::make_unique<Order>(pointers_);
  }

  /// A piece of work that writes its letter.
  Ticket write(std::uint32_t stream, char letter) {
    put_on(*streams_[stream], [this, letter] { written_ += letter; });
    return order_->mark(stream);
  }
  /// One that nobody is expected to wait for.
  Ticket put(std::uint32_t stream, char letter) {
    put_on(*streams_[stream], [this, letter] { written_ += letter; });
    return order_->put(stream);
  }
  void finish() {
    for (const auto& stream : streams_) stream->finish();
  }

  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<Stream*> pointers_;
  std::unique_ptr<Order> order_;
  std::string written_;
};

// Without it, some order of the hundred has b first.
TEST_F(OrderTest, WhatComesAfterAPieceWaitsForIt) {
  std::vector<std::string> seen;
  for (bool waits : {false, true}) {
    int early = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      host::draw_orders_from(seed);
      written_.clear();
      const Ticket a = write(0, 'a');
      if (waits) order_->after(1, a);
      write(1, 'b');
      finish();
      early += written_ == "ba" ? 1 : 0;
    }
    EXPECT_EQ(early == 0, waits) << early;
  }
}

TEST_F(OrderTest, WaitsOnlyForWhatIsNotKnown) {
  const Ticket a = write(0, 'a');
  order_->after(1, a);
  const Ticket b = write(1, 'b');
  order_->after(2, b);
  const std::size_t before = host::waits();
  EXPECT_TRUE(order_->knows(2, a));  // by way of b
  order_->after(2, a);
  order_->after(1, a);
  order_->after(0, a);
  EXPECT_EQ(host::waits(), before);
  const Ticket later = write(0, 'c');
  EXPECT_FALSE(order_->knows(2, later));
  order_->after(2, later);
  EXPECT_EQ(host::waits(), before + 1);
  finish();
}

// What b did after it was heard of is not known.
TEST_F(OrderTest, KnowsNothingOfWhatFollowed) {
  const Ticket b = write(1, 'b');
  const Ticket a = write(0, 'a');
  order_->after(1, a);
  write(1, 'c');
  order_->after(2, b);
  EXPECT_FALSE(order_->knows(2, a));
  finish();
}

TEST_F(OrderTest, GathersAllStreamsAndSpreadsToAll) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    host::draw_orders_from(seed);
    written_.clear();
    for (std::uint32_t stream : {0U, 1U, 2U}) write(stream, 'a');
    order_->gather(1);
    write(1, 'b');
    order_->spread(1);
    for (std::uint32_t stream : {0U, 1U, 2U}) write(stream, 'c');
    finish();
    ASSERT_EQ(written_, "aaabccc") << seed;
  }
}

// A later mark, or one that is made when somebody asks: nothing that follows comes too early.
TEST_F(OrderTest, WaitsForPiecesThatHaveNoMark) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    host::draw_orders_from(seed);
    written_.clear();
    const Ticket a = put(0, 'a');
    put(0, 'b');
    const std::size_t before = host::events(EventKind::order);
    order_->after(1, a);  // by what is there: a and b
    put(1, 'c');
    EXPECT_EQ(host::events(EventKind::order), before + 1);
    const Ticket d = put(0, 'd');
    write(0, 'e');
    put(0, 'f');
    order_->after(2, d);  // by e
    put(2, 'g');
    EXPECT_EQ(host::events(EventKind::order), before + 2);
    finish();
    EXPECT_LT(written_.find('b'), written_.find('c'));
    EXPECT_LT(written_.find('e'), written_.find('g'));
  }
  EXPECT_EQ(order_->marks_missed(), 100U);
}

TEST_F(OrderTest, RemembersFarFewerMarksThanThereAre) {
  const Ticket first = write(0, 'a');
  for (int i = 0; i < 10000; ++i) write(0, 'x');
  order_->after(1, first);
  write(1, 'b');
  finish();
  EXPECT_LT(written_.find('a'), written_.find('b'));
}

}  // namespace
}  // namespace strata::cuda
