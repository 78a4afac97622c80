#pragma once

// Plain stochastic gradient descent.

#include <cstdint>

namespace strata::cpu {

/// parameters -= learning_rate * gradients.
void sgd(float* parameters, const float* gradients, std::int64_t count, float learning_rate);

}  // namespace strata::cpu
