#include <vector>

#include "exec/cpu/kernels.h"
#include "exec/cpu/move.h"

namespace strata::cpu {
namespace {

class ConcatKernel : public Kernel {
 public:
  explicit ConcatKernel(const ShardSpec& spec) {
    std::int64_t offset = 0;
    for (LayerId input : (*spec).inputs) {
      offsets_.push_back(offset);
      offset += (*spec.graph)[input].output[Dim::c];
    }
  }

  void run(Phase phase, const Operands& operands) override {
    for (std::size_t k = 0; k < offsets_.size(); ++k) {
      if (phase == Phase::forward && !empty(operands.inputs[k].box)) {
        const Tensor input(operands.inputs[k]), output = moved(operands.output, k);
        copy(output, input, intersect(input.box(), output.box()));
      }
      if (phase == Phase::backward_data && operands.input_gradients[k].data != nullptr) {
        backward(Tensor(operands.input_gradients[k]), moved(operands.output_gradient, k));
      }
    }
  }

 private:
  /// The output in the coordinates of input k.
  Tensor moved(const Region& region, std::size_t k) const {
    Region there = region;
    there.box[Dim::c].begin -= offsets_[k];
    there.box[Dim::c].end -= offsets_[k];
    return Tensor(there);
  }

  static void backward(const Tensor& to, const Tensor& from) {
    const Box common = intersect(to.box(), from.box());
    if (common != to.box()) fill_zero(to);
    copy(to, from, common);
  }

  std::vector<std::int64_t> offsets_;  ///< of each input's first channel in the output
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const Concat&) {
  return std::make_unique<ConcatKernel>(spec);
}

}  // namespace strata::cpu
