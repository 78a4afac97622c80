#include "exec/runtime/kernel.h"

#include <algorithm>
#include <cassert>

namespace strata {

void PhasedKernel::run(Phase phase, const Operands& operands) {
  const auto wanted = [](const Region& gradient) { return gradient.data != nullptr; };
  switch (phase) {
    case Phase::forward_statistics:
      return forward_statistics(operands);
    case Phase::forward:
      return forward(operands);
    case Phase::backward_statistics:
      return backward_statistics(operands);
    case Phase::backward_data:
      if (std::ranges::any_of(operands.input_gradients, wanted)) backward_data(operands);
      return;
    case Phase::backward_weights:
      return backward_weights(operands);
    case Phase::update:
      return update(operands);
    default:
      assert(false);
  }
}

}  // namespace strata
