#include <algorithm>
#include <vector>

#include "exec/cpu/kernels.h"
#include "exec/cpu/move.h"
#include "sim/graph/regions.h"

namespace strata::cpu {
namespace {

class AddKernel : public PhasedKernel {
 public:
  explicit AddKernel(const ShardSpec& spec) {
    for (std::size_t k = 0; k < (*spec).inputs.size(); ++k) {
      first_.push_back(earlier_reading(*spec, k).value_or(k));
    }
  }

 private:
  void forward(const Operands& operands) override {
    std::vector<Tensor> addends;
    for (std::size_t first : first_) addends.emplace_back(operands.inputs[first]);
    sum(Tensor(operands.output), addends);
  }

  // A tensor that is read m times gets m times the gradient, where it is read first.
  void backward_data(const Operands& operands) override {
    const Tensor gradient(operands.output_gradient);
    for (std::size_t k = 0; k < first_.size(); ++k) {
      if (first_[k] != k || operands.input_gradients[k].data == nullptr) continue;
      const auto times = std::count(first_.begin(), first_.end(), k);
      sum(Tensor(operands.input_gradients[k]),
          std::vector<Tensor>(static_cast<std::size_t>(times), gradient));
    }
  }

  std::vector<std::size_t> first_;  ///< of each input, the first one that is the same tensor
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const Add&) {
  return std::make_unique<AddKernel>(spec);
}

}  // namespace strata::cpu
