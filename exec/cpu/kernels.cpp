#include "exec/cpu/kernels.h"

#include <variant>

#include "sim/base/error.h"

namespace strata::cpu {
namespace {

struct Make {
  using Made = std::unique_ptr<Kernel>;
  const ShardSpec& spec;

  Made operator()(const Input&) const { throw InternalError("a network input runs no kernel"); }
  Made operator()(const Opaque&) const { throw InternalError("nothing computes an opaque op"); }
  Made operator()(const Convolution& op) const { return make_convolution(spec, op); }
  Made operator()(const FullyConnected& op) const { return make_fully_connected(spec, op); }
  Made operator()(const Pooling& op) const { return make_pooling(spec, op); }
  Made operator()(const AdaptivePooling& op) const { return make_adaptive_pooling(spec, op); }
  Made operator()(const Activation& op) const { return make_activation(spec, op); }
  Made operator()(const BatchNorm& op) const { return make_batch_norm(spec, op); }
  Made operator()(const LocalResponseNorm& op) const { return make_local_response_norm(spec, op); }
  Made operator()(const Dropout& op) const { return make_dropout(spec, op); }
  Made operator()(const Concat&) const { return make_concat(spec); }
  Made operator()(const Add&) const { return make_add(spec); }
  Made operator()(const Multiply&) const { return make_multiply(spec); }
  Made operator()(const Flatten&) const { return make_flatten(spec); }
  Made operator()(const SoftmaxCrossEntropy&) const { return make_softmax_cross_entropy(spec); }
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec) {
  return std::visit(Make{spec}, (*spec).op);
}

}  // namespace strata::cpu
