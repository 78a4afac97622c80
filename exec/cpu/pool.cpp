#include "exec/cpu/pool.h"

#include <algorithm>
#include <utility>

#include "exec/cpu/move.h"
#include "exec/cpu/tensor.h"

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

class Pool : public Kernel {
 public:
  Pool(PoolMode mode, std::array<PoolDim, 3> dims) : mode_(mode), dims_(std::move(dims)) {}

  void run(Phase phase, const Operands& operands) override {
    auto* at = static_cast<std::int32_t*>(operands.saved);
    if (phase == Phase::forward) forward(Tensor(operands.inputs[0]), Tensor(operands.output), at);
    if (phase == Phase::backward_data && operands.input_gradients[0].data != nullptr) {
      backward(Tensor(operands.output_gradient), Tensor(operands.input_gradients[0]), at);
    }
  }

 private:
  PoolAxes axes() const { return {dims_[0].axis(), dims_[1].axis(), dims_[2].axis()}; }

  // The blocks of input and output differ where one of them alone has spatial extent, and few
  // channels: then both go channel by channel. `at`: where each maximum was found, or null where
  // nobody will ask.
  template <class Visit>
  void each_block(const Tensor& input, const Tensor& output, std::int32_t* at, Visit visit) {
    const bool same = input.block() == output.block();
    const std::int64_t block = same ? input.block() : 1;
    const std::int64_t count = same ? output.blocks() : output.extents()[Dim::c];
    const Blocks in(input, block), out(output, block);
    const BlockLoops& run = block == 1 ? loops().singles : loops().blocks;
    const std::int64_t size = output.plane() * block;
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

  void forward(const Tensor& input, const Tensor& output, std::int32_t* at) {
    const PoolAxes all = axes();
    each_block(input, output, at,
               [&](const BlockLoops& run, const float* in, float* out, std::int32_t* places) {
                 if (mode_ == PoolMode::max) return run.max_pool(all, in, out, places);
                 run.average_pool(all, in, out);
               });
    zero_unused(output);
  }

  void backward(const Tensor& gradient, const Tensor& input_gradient, std::int32_t* at) {
    const PoolAxes all = axes();
    each_block(input_gradient, gradient, at,
               [&](const BlockLoops& run, float* in, const float* out, const std::int32_t* places) {
                 if (mode_ == PoolMode::max) return run.max_pool_gradient(all, out, places, in);
                 run.average_pool_gradient(all, out, in);
               });
    zero_unused(input_gradient);
  }

  PoolMode mode_;
  std::array<PoolDim, 3> dims_;
  std::vector<std::int32_t> unasked_;  ///< while a forward pass runs
};

}  // namespace

// A shard that needs nothing of its input holds nothing, and a window that taps nothing in one dim
// may do so in another.
void PoolDim::add(Interval taps, std::int64_t divisor) {
  const auto output = static_cast<std::int64_t>(taps_.size());
  const auto inputs = static_cast<std::int64_t>(readers_.size());
  for (std::int64_t input = taps.begin; input < std::min(taps.end, inputs); input += step_) {
    Interval& readers = readers_[static_cast<std::size_t>(input)];
    if (readers.empty()) readers.begin = output;
    readers.end = output + 1;
  }
  taps_.push_back(taps);
  share_.push_back(divisor > 0 ? 1.0F / static_cast<float>(divisor) : 0.0F);
}

PoolAxis PoolDim::axis() const {
  return {static_cast<std::int64_t>(readers_.size()),
          static_cast<std::int64_t>(taps_.size()),
          step_,
          taps_.data(),
          readers_.data(),
          share_.data()};
}

std::unique_ptr<Kernel> make_pool(PoolMode mode, std::array<PoolDim, 3> dims) {
  return std::make_unique<Pool>(mode, std::move(dims));
}

}  // namespace strata::cpu
