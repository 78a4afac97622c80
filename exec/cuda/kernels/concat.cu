// Input k's channels come after those of the inputs before it; their gradients likewise.

#include <vector>

#include "exec/cuda/kernels/kernels.h"

namespace strata::cuda {
namespace {

class ConcatKernel : public PhasedKernel {
 public:
  ConcatKernel(Seat& seat, const ShardSpec& spec) : seat_(seat) {
    std::int64_t offset = 0;
    for (LayerId input : (*spec).inputs) {
      offsets_.push_back(offset);
      offset += (*spec.graph)[input].output[Dim::c];
    }
  }

 private:
  void forward(const Operands& operands) override {
    for (std::size_t k = 0; k < offsets_.size(); ++k) {
      const Region &input = operands.inputs[k], output = moved(operands.output, k);
      if (input.data == nullptr) continue;
      copy_box(output, input, intersect(input.box, output.box), seat_.type(), seat_.stream());
    }
  }

  void backward_data(const Operands& operands) override {
    for (std::size_t k = 0; k < offsets_.size(); ++k) {
      const Region &to = operands.input_gradients[k], from = moved(operands.output_gradient, k);
      if (to.data == nullptr) continue;
      const Box common = intersect(to.box, from.box);
      if (common != to.box) clear(to.data, volume(to.box) * size_of(seat_.type()), seat_.stream());
      copy_box(to, from, common, seat_.type(), seat_.stream());
    }
  }

  /// The output in the coordinates of input k.
  Region moved(Region region, std::size_t k) const {
    region.box[Dim::c].begin -= offsets_[k];
    region.box[Dim::c].end -= offsets_[k];
    return region;
  }

  Seat& seat_;
  std::vector<std::int64_t> offsets_;  ///< of each input's first channel in the output
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const Concat&) {
  return std::make_unique<ConcatKernel>(seat, spec);
}

}  // namespace strata::cuda
