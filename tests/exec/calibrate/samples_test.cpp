#include "exec/calibrate/samples.h"

#include <gtest/gtest.h>

namespace strata {
namespace {

TEST(Samples, CalmOnesCountWhereThereAreThree) {
  Samples samples;
  for (double busy : {90.0, 80.0, 70.0}) samples.add({busy}, false);
  for (double calm : {1.0, 2.0}) samples.add({calm}, true);
  EXPECT_EQ(samples.summary(Sampled::calm).median.value, 70);  // of 1 2 70 80 90
  EXPECT_EQ(samples.summary(Sampled::calm).spread.value, (80.0 - 2.0) / 2);
  EXPECT_EQ(samples.summary(Sampled::calm).count, 5);

  samples.add({3}, true);
  EXPECT_EQ(samples.summary(Sampled::calm).median.value, 2);
  EXPECT_EQ(samples.summary(Sampled::calm).spread.value, 0.5);  // quartiles 1.5 and 2.5
  EXPECT_EQ(samples.summary(Sampled::calm).count, 3);
  EXPECT_EQ(samples.summary(Sampled::always).median.value, 36.5);  // of 1 2 3 70 80 90
}

}  // namespace
}  // namespace strata
