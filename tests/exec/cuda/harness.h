#pragma once

// The GPU backend on the host that stands for GPUs, as a site of shards:
//   HostGpus site(Precision::bf16);
//   each_drawn(site, {"max_pool2d", 2}, 20, [&](const DrawnOp& drawn, Random& random) {
//     host::draw_orders_from(random());
//     expect_as_reference(site, drawn, {draw_degrees(drawn.output(), random)});
//   });
// A site's memory is large: one serves a test. Tensors in bf16 agree with the referee by 3e-2.

#include <ostream>

#include "exec/cuda/cuda_backend.h"
#include "tests/exec/shards/drawn_layer.h"
#include "tests/exec/shards/site.h"

namespace strata::cuda {

using reference::OpCase;
using shards::Cut;
using shards::draw_degrees;
using shards::DrawnLayer;
using shards::DrawnOp;
using shards::each_drawn;
using shards::each_seed;
using shards::expect_as_reference;
using shards::pick;
using shards::Random;

inline void PrintTo(Precision precision, std::ostream* out) {
  *out << (precision == Precision::bf16 ? "bf16" : precision == Precision::tf32 ? "tf32" : "fp32");
}

class HostGpus : public shards::Site {
 public:
  /// Three devices, two of them on one GPU.
  explicit HostGpus(Precision precision);

  CudaBackend& backend() override { return backend_; }
  void begin_step(const StepContext& context) override;
  double held(double value) const override;
  double tolerance() const override { return type_ == Type::fp32 ? 1e-5 : 3e-2; }

 private:
  Type type_;
  CudaBackend backend_;
};

}  // namespace strata::cuda
