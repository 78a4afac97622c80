// y = x0 + x1 + ..., dx = dy for each. A tensor that is read m times gets m dy, where it is read
// first.

#include <algorithm>
#include <vector>

#include "exec/cuda/kernels/kernels.h"
#include "sim/graph/regions.h"

namespace strata::cuda {
namespace {

class AddKernel : public PhasedKernel {
 public:
  AddKernel(Seat& seat, const ShardSpec& spec) : seat_(seat) {
    for (std::size_t k = 0; k < (*spec).inputs.size(); ++k) {
      first_.push_back(earlier_reading(*spec, k).value_or(k));
    }
  }

 private:
  void forward(const Operands& operands) override {
    std::vector<Region> addends;
    for (std::size_t first : first_) addends.push_back(operands.inputs[first]);
    sum_whole(operands.output, addends, seat_.type(), seat_.stream());
  }

  void backward_data(const Operands& operands) override {
    for (std::size_t k = 0; k < first_.size(); ++k) {
      if (first_[k] != k || operands.input_gradients[k].data == nullptr) continue;
      const auto times = std::count(first_.begin(), first_.end(), k);
      give(operands.input_gradients[k], operands.output_gradient, static_cast<std::size_t>(times));
    }
  }

  void give(const Region& to, const Region& gradient, std::size_t times) const {
    if (times == 1) return copy_box(to, gradient, to.box, seat_.type(), seat_.stream());
    sum_whole(to, std::vector<Region>(times, gradient), seat_.type(), seat_.stream());
  }

  Seat& seat_;
  std::vector<std::size_t> first_;  ///< of each input, the first one that is the same tensor
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const Add&) {
  return std::make_unique<AddKernel>(seat, spec);
}

}  // namespace strata::cuda
