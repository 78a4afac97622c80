#include "exec/cuda/tensor/number_code.h"

#include <cmath>

#include <gtest/gtest.h>

namespace strata::cuda {
namespace {

TEST(NumberCodes, KeepEveryNumberThroughBf16) {
  for (std::int64_t number = 0; number < kCodedNumbers; ++number) {
    const float code = code_of(static_cast<double>(number));
    ASSERT_TRUE(std::isfinite(code)) << number;
    ASSERT_EQ(number_of(Bf16(code)), number);
  }
}

TEST(NumberCodes, AreThoseOfNoNumberWhereThereIsNone) {
  for (const double number : {-1.0, static_cast<double>(kCodedNumbers)}) {
    EXPECT_TRUE(std::isnan(code_of(number)));
    EXPECT_EQ(number_of(Bf16(code_of(number))), -1);
  }
}

}  // namespace
}  // namespace strata::cuda
