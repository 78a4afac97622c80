// The loops of attention by 16 x 16 threads, as a GPU runs them, against the same loops by one:
// which thread has what, and where they wait for one another. Threads are the host's own.

#include <algorithm>
#include <array>
#include <barrier>
#include <cmath>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "exec/cuda/kernels/attention_loops.h"

namespace strata::cuda {
namespace {

constexpr int kSide = 16, kThreads = kSide * kSide;

/// What the threads of one item share.
struct SharedTile {
  explicit SharedTile(std::int64_t floats) : memory(static_cast<std::size_t>(floats), NAN) {
    for (auto& row : rows) row = std::make_unique<std::barrier<>>(kSide);
  }

  std::vector<float> memory;
  std::array<float, kThreads> told{};
  std::barrier<> all{kThreads};
  std::array<std::unique_ptr<std::barrier<>>, kSide> rows;
};

/// As TileThread.
class HostThread {
 public:
  HostThread(SharedTile& shared, int rank) : shared_(shared), rank_(rank) {}

  int row() const { return rank_ / kSide; }
  int column() const { return rank_ % kSide; }
  int rank() const { return rank_; }
  int size() const { return kThreads; }
  float* memory() const { return shared_.memory.data(); }
  void sync() const { shared_.all.arrive_and_wait(); }

  float row_sum(float mine) const {
    return combine(mine, [](float a, float b) { return a + b; });
  }
  float row_largest(float mine) const {
    return combine(mine, [](float a, float b) { return std::max(a, b); });
  }

 private:
  template <class Join>
  float combine(float mine, const Join& join) const {
    std::barrier<>& own_row = *shared_.rows[static_cast<std::size_t>(row())];
    shared_.told[static_cast<std::size_t>(rank_)] = mine;
    own_row.arrive_and_wait();
    const float* const told = &shared_.told[static_cast<std::size_t>(row() * kSide)];
    float all = told[0];
    for (int k = 1; k < kSide; ++k) all = join(all, told[k]);
    own_row.arrive_and_wait();
    return all;
  }

  SharedTile& shared_;
  int rank_;
};

template <class Loop>
void run_by_threads(std::int64_t items, const Loop& loop) {
  SharedTile shared(Loop::kMemory);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int rank = 0; rank < kThreads; ++rank) {
    threads.emplace_back([&, rank] {
      const HostThread thread(shared, rank);
      for (std::int64_t i = 0; i < items; ++i) {
        loop(thread, i);
        thread.sync();  // a GPU's blocks have memory of their own
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

template <class Loop>
void run_alone(std::int64_t items, const Loop& loop) {
  std::vector<float> memory(static_cast<std::size_t>(Loop::kMemory), NAN);
  for (std::int64_t i = 0; i < items; ++i) loop(TileThread(memory.data()), i);
}

/// Two heads of queries that one of keys serves, causal within a window.
class TwoHeads {
 public:
  TwoHeads(int channels, std::int64_t positions)
      : channels_(channels),
        positions_(positions),
        q_(draw(2)),
        k_(draw(1)),
        v_(draw(1)),
        dy_(draw(2)),
        log_sums_(static_cast<std::size_t>(2 * positions)),
        dy_y_(log_sums_.size()) {}

  struct Results {
    std::vector<float> y, dq, dk, dv;
  };

  template <class Sizes>
  Results run(const auto& run_loop) {
    Results to{std::vector<float>(q_.size()), std::vector<float>(q_.size()),
               std::vector<float>(k_.size()), std::vector<float>(k_.size())};
    const AttentionTensors<float> of{{positions_, positions_, 0, true, positions_ - 9},
                                     {1, 2, 1, 0, 0, 2},
                                     heads<const float>(q_, 2),
                                     heads<const float>(k_, 1),
                                     heads<const float>(v_, 1),
                                     0.25F,
                                     0,
                                     log_sums_.data(),
                                     {}};
    const auto y = heads<float>(to.y, 2);
    const std::int64_t queries = TileItem::count(2, 1, positions_, Sizes::kKept);
    const std::int64_t keys = TileItem::count(1, 1, positions_, Sizes::kKept);
    run_loop(queries, AttendLoop<float, Sizes>{of, y});
    const AttentionGradients<float> gradients{heads<const float>(dy_, 2), dy_y_.data(),
                                              heads<float>(to.dq, 2), heads<float>(to.dk, 1),
                                              heads<float>(to.dv, 1)};
    const OutputProducts<float> products{of.groups, positions_, heads<const float>(to.y, 2),
                                         gradients.dy, dy_y_.data()};
    for (std::int64_t i = 0; i < 2 * positions_; ++i) products(i);
    run_loop(queries, QueryGradientLoop<float, Sizes>{of, gradients});
    run_loop(keys, KeyGradientLoop<float, Sizes>{of, gradients});
    return to;
  }

 private:
  std::vector<float> draw(std::int64_t heads) {
    std::vector<float> values(static_cast<std::size_t>(heads * channels_ * positions_));
    std::uniform_real_distribution<float> draw(-1, 1);
    for (float& value : values) value = draw(random_);
    return values;
  }
  template <class T>
  Heads<T> heads(auto& values, std::int64_t count) const {
    const Box box{{{{0, 1}, {0, count * channels_}, {0, 1}, {0, 1}, {0, positions_}}}};
    return {Tensor<T>(Region{const_cast<float*>(values.data()), box}), {0, 0, 0, 0, 0}, channels_};
  }

  std::mt19937_64 random_{1};
  int channels_;
  std::int64_t positions_;
  std::vector<float> q_, k_, v_, dy_, log_sums_, dy_y_;
};

void expect_near(const std::vector<float>& got, const std::vector<float>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  float off = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const float d = std::abs(got[i] - wanted[i]);
    off = std::isnan(d) ? INFINITY : std::max(off, d);
  }
  EXPECT_LT(off, 1e-5F);
}

/// Of heads whose last channels and positions fill no tile.
template <int channels>
void expect_as_one_thread() {
  using Sizes = TileSizes<channels, kSide>;
  TwoHeads heads(channels - 6, Sizes::kKept + 3);
  const TwoHeads::Results one = heads.run<TileSizes<channels, 1>>(
      [](auto items, const auto& loop) { run_alone(items, loop); });
  const TwoHeads::Results many =
      heads.run<Sizes>([](auto items, const auto& loop) { run_by_threads(items, loop); });
  expect_near(many.y, one.y);
  expect_near(many.dq, one.dq);
  expect_near(many.dk, one.dk);
  expect_near(many.dv, one.dv);
}

TEST(AttentionTiles, BySixteenTimesSixteenThreadsAreAsByOne) {
  expect_as_one_thread<32>();
  expect_as_one_thread<64>();
  expect_as_one_thread<128>();
  expect_as_one_thread<256>();
}

}  // namespace
}  // namespace strata::cuda
