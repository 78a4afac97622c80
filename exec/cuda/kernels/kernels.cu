#include <variant>

#include "exec/cuda/kernels/kernels.h"
#include "sim/base/error.h"

namespace strata::cuda {
namespace {

struct Make {
  using Made = std::unique_ptr<Kernel>;
  Seat& seat;
  const ShardSpec& spec;

  Made operator()(const Input&) const { throw InternalError("a network input runs no kernel"); }
  Made operator()(const Opaque&) const { throw InternalError("nothing computes an opaque op"); }
  Made operator()(const Convolution& op) const { return make_convolution(seat, spec, op); }
  Made operator()(const FullyConnected& op) const { return make_fully_connected(seat, spec, op); }
  Made operator()(const Pooling& op) const { return make_pooling(seat, spec, op); }
  Made operator()(const AdaptivePooling& op) const { return make_adaptive_pooling(seat, spec, op); }
  Made operator()(const Activation& op) const { return make_activation(seat, spec, op); }
  Made operator()(const BatchNorm& op) const { return make_batch_norm(seat, spec, op); }
  Made operator()(const LocalResponseNorm& op) const {
    return make_local_response_norm(seat, spec, op);
  }
  Made operator()(const Dropout& op) const { return make_dropout(seat, spec, op); }
  Made operator()(const Concat&) const { return make_concat(seat, spec); }
  Made operator()(const Add&) const { return make_add(seat, spec); }
  Made operator()(const Multiply&) const { return make_multiply(seat, spec); }
  Made operator()(const Flatten&) const { return make_flatten(seat, spec); }
  Made operator()(const SoftmaxCrossEntropy&) const {
    return make_softmax_cross_entropy(seat, spec);
  }
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec) {
  return std::visit(Make{seat, spec}, (*spec).op);
}

}  // namespace strata::cuda
