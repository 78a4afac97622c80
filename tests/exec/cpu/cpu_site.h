#pragma once

// The CPU backend as a site of shards. Threads stay where they are: tests run side by side.

#include <gtest/gtest.h>

#include "exec/cpu/cpu_backend.h"
#include "tests/exec/cpu/tensors.h"
#include "tests/exec/shards/drawn_layer.h"
#include "tests/exec/shards/site.h"

namespace strata::cpu {

using shards::Cut;
using shards::draw_degrees;
using shards::DrawnLayer;
using shards::DrawnOp;
using shards::each_drawn;
using shards::expect_as_reference;

class CpuSite : public shards::Site {
 public:
  CpuBackend& backend() override { return backend_; }
  void enter(DeviceId) override {}
  void expect_sound(const Region& region) override {
    EXPECT_TRUE(unused_are_zero(Tensor(region))) << "the last block's unused places";
  }

 private:
  CpuBackend backend_{1};
};

}  // namespace strata::cpu
