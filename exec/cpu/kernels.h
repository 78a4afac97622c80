#pragma once

// One function per op that makes a shard's kernel: oneDNN for what multiplies matrices, own loops
// over channel blocks for the rest. Every shape is local, every padding asymmetric. fp32.

#include <memory>

#include "exec/runtime/kernel.h"
#include "sim/graph/op.h"

namespace strata::cpu {

/// Dispatches on the layer's op. Throws EnvironmentError where the library refuses.
std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec);

// convolution.cpp, fully_connected.cpp: oneDNN, one thread.
std::unique_ptr<Kernel> make_convolution(const ShardSpec& spec, const Convolution& op);
std::unique_ptr<Kernel> make_fully_connected(const ShardSpec& spec, const FullyConnected& op);

std::unique_ptr<Kernel> make_pooling(const ShardSpec& spec, const Pooling& op);
std::unique_ptr<Kernel> make_adaptive_pooling(const ShardSpec& spec, const AdaptivePooling& op);
std::unique_ptr<Kernel> make_activation(const ShardSpec& spec, const Activation& op);
std::unique_ptr<Kernel> make_batch_norm(const ShardSpec& spec, const BatchNorm& op);
std::unique_ptr<Kernel> make_local_response_norm(const ShardSpec& spec,
                                                 const LocalResponseNorm& op);
std::unique_ptr<Kernel> make_dropout(const ShardSpec& spec, const Dropout& op);
std::unique_ptr<Kernel> make_concat(const ShardSpec& spec);
std::unique_ptr<Kernel> make_add(const ShardSpec& spec);
std::unique_ptr<Kernel> make_multiply(const ShardSpec& spec);
std::unique_ptr<Kernel> make_flatten(const ShardSpec& spec);
std::unique_ptr<Kernel> make_softmax_cross_entropy(const ShardSpec& spec);

}  // namespace strata::cpu
