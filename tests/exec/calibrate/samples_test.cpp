#include "exec/calibrate/samples.h"

#include <gtest/gtest.h>

namespace strata {
namespace {

TEST(Samples, CalmOnesCountWhereThereAreThree) {
  Samples samples;
  for (double busy : {90.0, 80.0, 70.0}) samples.add({busy, 0, 0, false});
  for (double calm : {1.0, 2.0}) samples.add({calm});
  EXPECT_EQ(samples.summary(Sampled::calm).median.value, 70);  // of 1 2 70 80 90
  EXPECT_EQ(samples.summary(Sampled::calm).spread.value, (80.0 - 2.0) / 2);
  EXPECT_EQ(samples.summary(Sampled::calm).count, 5);

  samples.add({3});
  EXPECT_EQ(samples.summary(Sampled::calm).median.value, 2);
  EXPECT_EQ(samples.summary(Sampled::calm).spread.value, 0.5);  // quartiles 1.5 and 2.5
  EXPECT_EQ(samples.summary(Sampled::calm).count, 3);
  EXPECT_EQ(samples.summary(Sampled::always).median.value, 36.5);  // of 1 2 3 70 80 90
}

TEST(Samples, TheSpreadLeavesOutWhatSlowsEverything) {
  Samples samples;
  // 10, 11 and 12 at pace 1, and the same when all takes twice as long.
  for (double seconds : {10.0, 11.0, 12.0}) {
    samples.add({seconds, 0});
    samples.add({2 * seconds, 1});
  }
  EXPECT_EQ(samples.summary(Sampled::always).spread.value, (21.5 - 11.25) / 2);
  const std::vector<double> paces = {1, 2};
  EXPECT_EQ(samples.summary(Sampled::always, paces).spread.value, (11.75 - 10.25) / 2);
  EXPECT_EQ(samples.summary(Sampled::always, paces).median.value, 16);  // of 10 11 12 20 22 24
}

}  // namespace
}  // namespace strata
