#include <algorithm>
#include <utility>

#include "exec/cpu/kernels.h"
#include "exec/cpu/loops.h"
#include "exec/cpu/move.h"
#include "exec/cpu/tensor.h"
#include "exec/runtime/pool_windows.h"

namespace strata::cpu {
namespace {

/// A tensor by blocks of `block` channels: its own, or single channels where it has no spatial
/// extent and so all channels of a sample side by side.
struct Blocks {
  Blocks(const Tensor& tensor, std::int64_t block)
      : data(tensor.data()),
        sample(tensor.blocks() * tensor.plane() * tensor.block()),
        step(tensor.plane() * block) {}

  float* at(std::int64_t n, std::int64_t cb) const { return data + n * sample + cb * step; }

  float* data;
  std::int64_t sample, step;
};

class Pool : public PhasedKernel {
 public:
  Pool(PoolMode mode, std::array<PoolWindows, 3> windows)
      : mode_(mode),
        windows_(std::move(windows)),
        axes_{axis(windows_[0]), axis(windows_[1]), axis(windows_[2])} {}

 private:
  static PoolAxis axis(const PoolWindows& windows) {
    return {static_cast<std::int64_t>(windows.readers.size()),
            static_cast<std::int64_t>(windows.taps.size()),
            windows.step,
            windows.taps.data(),
            windows.readers.data(),
            windows.shares.data()};
  }

  // The blocks of input and output differ where one of them alone has spatial extent, and few
  // channels: then both go channel by channel. `saved`: where each maximum was found, or null
  // where nobody will ask.
  template <class Visit>
  void each_block(const Tensor& input, const Tensor& output, void* saved, Visit visit) {
    const bool same = input.block() == output.block();
    const std::int64_t block = same ? input.block() : 1;
    const std::int64_t count = same ? output.blocks() : output.extents()[Dim::c];
    const Blocks in(input, block), out(output, block);
    const BlockLoops& run = block == 1 ? loops().singles : loops().blocks;
    const std::int64_t size = output.plane() * block;
    auto* at = static_cast<std::int32_t*>(saved);
    const bool keeps = at != nullptr;
    if (!keeps && mode_ == PoolMode::max) {
      unasked_.resize(static_cast<std::size_t>(size));
      at = unasked_.data();
    }
    for (std::int64_t n = 0; n < output.extents()[Dim::n]; ++n) {
      for (std::int64_t cb = 0; cb < count; ++cb) {
        visit(run, in.at(n, cb), out.at(n, cb), at);
        if (keeps) at += size;
      }
    }
  }

  void forward(const Operands& operands) override {
    const Tensor input(operands.inputs[0]), output(operands.output);
    each_block(input, output, operands.saved,
               [&](const BlockLoops& run, const float* in, float* out, std::int32_t* places) {
                 if (mode_ == PoolMode::max) return run.max_pool(axes_, in, out, places);
                 run.average_pool(axes_, in, out);
               });
    zero_unused(output);
  }

  void backward_data(const Operands& operands) override {
    const Tensor gradient(operands.output_gradient), input_gradient(operands.input_gradients[0]);
    each_block(input_gradient, gradient, operands.saved,
               [&](const BlockLoops& run, float* in, const float* out, const std::int32_t* places) {
                 if (mode_ == PoolMode::max) return run.max_pool_gradient(axes_, out, places, in);
                 run.average_pool_gradient(axes_, out, in);
               });
    zero_unused(input_gradient);
  }

  PoolMode mode_;
  const std::array<PoolWindows, 3> windows_;
  PoolAxes axes_;
  std::vector<std::int32_t> unasked_;  ///< while a forward pass runs
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const Pooling& op) {
  return std::make_unique<Pool>(op.mode, pool_windows(spec, op));
}
std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const AdaptivePooling& op) {
  return std::make_unique<Pool>(op.mode, pool_windows(spec, op));
}

}  // namespace strata::cpu
