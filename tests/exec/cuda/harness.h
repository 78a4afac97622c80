#pragma once

// The GPU backend on the host that stands for GPUs, as a site of shards:
//   HostGpus site(Precision::bf16);
//   each_drawn(site, {"max_pool2d", 2}, 20, [&](const DrawnOp& drawn, Random& random) {
//     host::draw_orders_from(random());
//     expect_as_reference(site, drawn, {draw_degrees(drawn.output(), random)});
//   });
// A site's memory is large: one serves a test. Of a tensor's largest value, the referee may be off
// by 1e-5 in fp32, 5e-3 in tf32 and 3e-2 in bf16.
//
// The same tests run on GPUs (on_gpu.cpp), where the site is the GPUs' own.

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <vector>

#include "exec/cuda/run/cuda_backend.h"
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
  /// On GPUs, says how far the test's tensors were off: "agreement {JSON}".
  ~HostGpus() override;

  CudaBackend& backend() override { return backend_; }
  void begin_step(const StepContext& context) override;
  double held(double value) const override;
  double tolerance() const override;
  void saw(double error) override { largest_error_ = std::max(largest_error_, error); }

 private:
  Precision precision_;
  CudaBackend backend_;
  double largest_error_ = 0;
};

/// In which products are worth a test: tf32 differs from fp32 on GPUs alone.
std::vector<Precision> precisions_of_products();
/// How many layers to draw where libraries make products: they plan and tune each shape anew.
std::uint64_t seeds_of_products(std::uint64_t on_host);

}  // namespace strata::cuda
