#include "exec/cpu/sgd.h"

namespace strata::cpu {

void sgd(float* parameters, const float* gradients, std::int64_t count, float learning_rate) {
  for (std::int64_t i = 0; i < count; ++i) parameters[i] -= learning_rate * gradients[i];
}

}  // namespace strata::cpu
