#include <vector>

#include "exec/cpu/kernels.h"
#include "exec/cpu/move.h"

namespace strata::cpu {
namespace {

class ConcatKernel : public PhasedKernel {
 public:
  explicit ConcatKernel(const ShardSpec& spec) {
    std::int64_t offset = 0;
    for (LayerId input : (*spec).inputs) {
      offsets_.push_back(offset);
      offset += (*spec.graph)[input].output[Dim::c];
    }
  }

 private:
  void forward(const Operands& operands) override {
    for (std::size_t k = 0; k < offsets_.size(); ++k) {
      if (empty(operands.inputs[k].box)) continue;
      const Tensor input(operands.inputs[k]), output = moved(operands.output, k);
      copy(output, input, intersect(input.box(), output.box()));
    }
  }

  void backward_data(const Operands& operands) override {
    for (std::size_t k = 0; k < offsets_.size(); ++k) {
      if (operands.input_gradients[k].data == nullptr) continue;
      const Tensor to(operands.input_gradients[k]), from = moved(operands.output_gradient, k);
      const Box common = intersect(to.box(), from.box());
      if (common != to.box()) fill_zero(to);
      copy(to, from, common);
    }
  }

  /// The output in the coordinates of input k.
  Tensor moved(const Region& region, std::size_t k) const {
    Region there = region;
    there.box[Dim::c].begin -= offsets_[k];
    there.box[Dim::c].end -= offsets_[k];
    return Tensor(there);
  }

  std::vector<std::int64_t> offsets_;  ///< of each input's first channel in the output
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const Concat&) {
  return std::make_unique<ConcatKernel>(spec);
}

}  // namespace strata::cpu
