// Products as cuBLAS is asked for them.

#include "exec/cuda/products/products.h"

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "tests/exec/cuda/fake_cublas.h"
#include "tests/exec/cuda/host_device.h"

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

// A library tells of it in its own words, or fails in some way where CUDA gave it none.
TEST(Products, SayWhereMemoryIsShort) {
  Seat seat(0, Precision::fp32);
  use_cublas(seat, made_up_cublas(seat));
  const std::int64_t before = host::memory_taken();
  host::set_memory(before + 4096);
  fake_cublas().refused = CublasCall::multiply;
  const auto words = [&]() -> std::string {
    try {
      multiply(seat, {nullptr, 2, 3}, {nullptr, 3, 4}, nullptr, Type::fp32);
      return "";
    } catch (const EnvironmentError& error) {
      return error.message();
    }
  };
  const std::string short_of = "out of memory: GPU 0 has no room for cuBLAS; 4096 bytes are free (";
  EXPECT_TRUE(words().starts_with("cuBLAS: multiplying matrices: "));
  host::refuse_launch("cudaErrorMemoryAllocation");
  EXPECT_TRUE(words().starts_with(short_of));
  EXPECT_TRUE(words().starts_with("cuBLAS: ")) << "what was said is forgotten";
  fake_cublas().refusal = CUBLAS_STATUS_ALLOC_FAILED;
  EXPECT_TRUE(words().starts_with(short_of));
  fake_cublas() = {};
  host::set_memory(std::int64_t{1} << 40U);
}

}  // namespace
}  // namespace strata::cuda
