// A run of a sample's elements in row-major order. The boxes that a shard reads are runs, too, each
// of them dense: a sample of one packs to where it stands in the output's row.

#include <algorithm>

#include "exec/cpu/kernels.h"
#include "exec/cpu/move.h"

namespace strata::cpu {
namespace {

class FlattenKernel : public PhasedKernel {
 public:
  explicit FlattenKernel(const ShardSpec& spec)
      : input_((*spec.graph)[(*spec).inputs[0]].output), first_(spec.output[Dim::c].begin) {}

 private:
  void forward(const Operands& operands) override {
    const Tensor output(operands.output);
    if (output.data() == operands.inputs[0].data) return;
    each_row(operands.inputs, output,
             [](float* row, const Tensor& part, const Box& box) { pack(row, part, box); });
    zero_unused(output);
  }

  void backward_data(const Operands& operands) override {
    const Tensor gradient(operands.output_gradient);
    if (gradient.data() == operands.input_gradients[0].data) return;
    each_row(operands.input_gradients, gradient,
             [](const float* row, const Tensor& part, const Box& box) { unpack(part, row, box); });
  }

  /// Where a box begins in a sample of the whole input, row-major.
  std::int64_t place_of(const Box& box) const {
    std::int64_t place = 0;
    for (Dim dim : {Dim::c, Dim::d, Dim::h, Dim::w}) place = place * input_[dim] + box[dim].begin;
    return place;
  }

  template <class Visit>
  void each_row(std::span<const Region> parts, const Tensor& flat, Visit visit) const {
    for (const Region& part : parts) {
      if (part.data == nullptr) continue;
      Box box = part.box;
      for (std::int64_t n = 0; n < flat.extents()[Dim::n]; ++n) {
        box[Dim::n] = {part.box[Dim::n].begin + n, part.box[Dim::n].begin + n + 1};
        visit(flat.block_at(n, 0) + place_of(box) - first_, Tensor(part), box);
      }
    }
  }

  Extents input_;
  std::int64_t first_;  ///< of the output's run
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const Flatten&) {
  return std::make_unique<FlattenKernel>(spec);
}

}  // namespace strata::cpu
