#include <algorithm>
#include <vector>

#include "exec/cpu/kernels.h"
#include "exec/cpu/loops.h"
#include "exec/cpu/tensor.h"
#include "exec/runtime/dropout_mask.h"

namespace strata::cpu {
namespace {

class DropoutKernel : public PhasedKernel {
 public:
  DropoutKernel(const ShardSpec& spec, const Dropout& op)
      : spec_(spec),
        probability_(op.probability),
        whole_((*spec).output),
        kept_(static_cast<std::size_t>(padded_size(extents(spec.output)))) {}

 private:
  void forward(const Operands& operands) override {
    const Region &from = operands.inputs[0], &to = operands.output;
    if (spec_.training) return apply(*operands.step, from, to);
    if (from.data != to.data) {
      std::copy_n(Tensor(from).data(), kept_.size(), Tensor(to).data());
    }
  }

  void backward_data(const Operands& operands) override {
    apply(*operands.step, operands.output_gradient, operands.input_gradients[0]);
  }

  void draw(const StepContext& step) {
    const DropoutMask mask(spec_.seed, spec_.layer, step.step, probability_);
    const std::int64_t before = step.round * whole_[Dim::n];  // samples of other rounds
    const Tensor shape(nullptr, spec_.output);
    std::uint8_t* at = kept_.data();
    for (std::int64_t n = spec_.output[Dim::n].begin; n < spec_.output[Dim::n].end; ++n) {
      for (std::int64_t cb = 0; cb < shape.blocks(); ++cb) {
        draw_block(mask, before + n, cb * shape.block(), at);
        at += shape.plane() * shape.block();
      }
    }
  }

  /// Of the batch's sample n, in the order of the block's memory; unused places stay dropped.
  void draw_block(const DropoutMask& mask, std::int64_t n, std::int64_t channel, std::uint8_t* at) {
    const Box& box = spec_.output;
    const std::int64_t block = block_of(extents(box));
    const std::int64_t used = std::min(block, box[Dim::c].size() - channel);
    const std::int64_t plane = whole_[Dim::d] * whole_[Dim::h] * whole_[Dim::w];
    const std::int64_t first = (n * whole_[Dim::c] + box[Dim::c].begin + channel) * plane;
    for (std::int64_t d = box[Dim::d].begin; d < box[Dim::d].end; ++d) {
      for (std::int64_t h = box[Dim::h].begin; h < box[Dim::h].end; ++h) {
        const std::int64_t row = first + (d * whole_[Dim::h] + h) * whole_[Dim::w];
        for (std::int64_t w = box[Dim::w].begin; w < box[Dim::w].end; ++w, at += block) {
          for (std::int64_t c = 0; c < used; ++c) {
            at[c] = static_cast<std::uint8_t>(mask.keeps(row + w + c * plane));
          }
        }
      }
    }
  }

  void apply(const StepContext& step, const Region& from, const Region& to) {
    draw(step);
    loops().mask(Tensor(to).data(), Tensor(from).data(), kept_.data(),
                 static_cast<std::int64_t>(kept_.size()),
                 static_cast<float>(1 / (1 - probability_)));
  }

  ShardSpec spec_;
  double probability_;
  Extents whole_;
  std::vector<std::uint8_t> kept_;  ///< while a phase runs: each draws the same anew
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const Dropout& op) {
  return std::make_unique<DropoutKernel>(spec, op);
}

}  // namespace strata::cpu
