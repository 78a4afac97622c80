// Products as cuBLAS is asked for them.

#include "exec/cuda/products/products.h"

#include <gtest/gtest.h>

#include "tests/exec/cuda/fake_cublas.h"

namespace strata::cuda {
namespace {

TEST(Products, KeepWhatLiesThereOnlyWhereTheyAddToIt) {
  Seat seat(0, Precision::bf16);
  use_cublas(seat, made_up_cublas(seat));
  const Matrix a{nullptr, 2, 3}, b{nullptr, 3, 4};
  multiply(seat, a, b, nullptr, Type::fp32, true);
  EXPECT_EQ(fake_cublas().kept, 1);
  multiply(seat, a, b, nullptr, Type::fp32);
  EXPECT_EQ(fake_cublas().kept, 0);
}

}  // namespace
}  // namespace strata::cuda
