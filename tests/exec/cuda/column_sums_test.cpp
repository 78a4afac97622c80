// Sums by channel, however a matrix is cut among threads, against sums in double precision.

#include "exec/cuda/kernels/column_sums.h"

#include <cmath>
#include <type_traits>

#include <gtest/gtest.h>

#include "tests/exec/cuda/plain_values.h"
#include "tests/exec/shards/random.h"

namespace strata::cuda {
namespace {

template <class T>
std::vector<float> sums_of(const std::vector<double>& values, const Places& size) {
  Seat seat(0, std::is_same_v<T, float> ? Precision::fp32 : Precision::bf16);
  const LastingMemory memory = put<T>(values, seat);
  const LastingMemory sums(0, size.c * static_cast<std::int64_t>(sizeof(float)));
  const Box box{{{{0, size.n}, {0, size.c}, {0, size.d}, {0, size.h}, {0, size.w}}}};
  column_sums({memory.data(), box}, static_cast<float*>(sums.data()), seat);
  return get(sums, seat);
}

/// Quarters are exact in either type, and so are their sums.
template <class T>
void expect_exact(const Places& size) {
  SCOPED_TRACE(testing::Message() << size.positions() << " x " << size.c);
  shards::Random random(1);
  std::vector<double> values(static_cast<std::size_t>(size.count()));
  std::vector<float> wanted(static_cast<std::size_t>(size.c));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = 0.25 * static_cast<double>(shards::pick(random, -8, 8));
    wanted[i % wanted.size()] += static_cast<float>(values[i]);
  }
  EXPECT_EQ(sums_of<T>(values, size), wanted);
}

// Channels alone and by packs; one thread for a channel, some, or enough of them for a team.
TEST(ColumnSums, AreThoseOfEveryShape) {
  for (const Places& size :
       {Places{1, 1, 1, 1, 1}, Places{1, 1, 1, 1, 24}, Places{2, 1, 3, 5, 7}, Places{3, 1, 9, 5, 3},
        Places{4, 2, 5, 8, 8}, Places{2, 1, 31, 33, 1}, Places{2, 1, 31, 33, 16},
        Places{3, 1, 40, 50, 5}, Places{70, 1, 1, 1, 2048}}) {
    expect_exact<float>(size);
    expect_exact<Bf16>(size);
  }
}

TEST(ColumnSums, OfNoPositionsAreZeros) {
  EXPECT_EQ(sums_of<float>({}, {0, 1, 1, 1, 5}), std::vector<float>(5));
  EXPECT_EQ(sums_of<Bf16>({}, {0, 1, 1, 1, 8}), std::vector<float>(8));
}

// A chain of a hundred thousand additions would be off by more.
TEST(ColumnSums, OfManyRowsStayAccurate) {
  const Places size = {100, 1, 32, 32, 1};
  std::vector<double> values(static_cast<std::size_t>(size.count()), 0.1F);
  const double wanted = static_cast<double>(0.1F) * static_cast<double>(size.count());
  EXPECT_NEAR(sums_of<float>(values, size)[0] / wanted, 1, 3e-6);
}

}  // namespace
}  // namespace strata::cuda
