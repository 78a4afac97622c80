#include "exec/cpu/kernels.h"

#include <variant>

#include "sim/base/error.h"

namespace strata::cpu {
namespace {

std::unique_ptr<Kernel> make_kernel(const ShardSpec&, const Input&) {
  throw InternalError("a network input runs no kernel");
}
std::unique_ptr<Kernel> make_kernel(const ShardSpec&, const Opaque&) {
  throw InternalError("nothing computes an opaque op");
}

}  // namespace

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec) {
  return std::visit([&](const auto& op) { return make_kernel(spec, op); }, (*spec).op);
}

void sgd(const Operands& operands, std::int64_t count) {
  float* const parameters = operands.parameters;
  const float* const gradients = operands.parameter_gradients;
  const float learning_rate = operands.step->learning_rate;
  for (std::int64_t i = 0; i < count; ++i) parameters[i] -= learning_rate * gradients[i];
}

}  // namespace strata::cpu
