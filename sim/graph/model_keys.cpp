#include "sim/graph/model_keys.h"

namespace strata {
namespace {

Op convolution(int rank) {
  Convolution op;
  op.rank = rank;
  return op;
}

Op pooling(int rank, PoolMode mode) {
  Pooling op;
  op.rank = rank;
  op.mode = mode;
  return op;
}

Op adaptive_pooling(int rank, PoolMode mode) {
  AdaptivePooling op;
  op.rank = rank;
  op.mode = mode;
  return op;
}

std::vector<Op> make_prototypes() {
  std::vector<Op> ops = {Input{}};
  for (int rank : {1, 2, 3}) ops.push_back(convolution(rank));
  for (PoolMode mode : {PoolMode::max, PoolMode::average}) {
    for (int rank : {1, 2, 3}) ops.push_back(pooling(rank, mode));
  }
  for (PoolMode mode : {PoolMode::max, PoolMode::average}) {
    for (int rank : {1, 2, 3}) ops.push_back(adaptive_pooling(rank, mode));
  }
  ops.push_back(FullyConnected{});
  for (std::size_t kind = 0; kind < kActivationKinds; ++kind) {
    ops.push_back(Activation{static_cast<ActivationKind>(kind)});
  }
  for (const Op& op :
       {Op(BatchNorm{}), Op(LocalResponseNorm{}), Op(Dropout{}), Op(Concat{}), Op(Add{}),
        Op(Multiply{}), Op(Flatten{}), Op(SoftmaxCrossEntropy{}), Op(Opaque{})}) {
    ops.push_back(op);
  }
  return ops;
}

}  // namespace

const std::vector<Op>& op_prototypes() {
  static const std::vector<Op> kOps = make_prototypes();
  return kOps;
}

}  // namespace strata
