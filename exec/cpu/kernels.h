#pragma once

// One function per op that makes a shard's kernel: oneDNN for what multiplies matrices, own loops
// over channel blocks for the rest. Every shape is local, every padding asymmetric. fp32.

#include <cstdint>
#include <memory>

#include "exec/runtime/kernel.h"
#include "sim/graph/op.h"

namespace strata::cpu {

/// Of the layer's op. Throws EnvironmentError where the library refuses.
std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec);

// Each in the source of its name, both poolings in one, what makes or takes tokens, and what moves
// them to experts and back, whose products are in linear.cpp; `op` is the layer's. The first two
// are oneDNN's, on one thread.
std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const Convolution& op);
std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const FullyConnected& op);
std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const Linear& op);
std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const Attention& op);
std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const Pooling& op);
std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const AdaptivePooling& op);
std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const Activation& op);
std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const GatedActivation& op);
std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const BatchNorm& op);
std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const LayerNorm& op);
std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const RmsNorm& op);
/// Of heads: in head_norm.cpp.
std::unique_ptr<Kernel> make_head_norm(const ShardSpec& spec, const RmsNorm& op);
std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const LocalResponseNorm& op);
std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const Dropout& op);
std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const Concat& op);
std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const Add& op);
std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const Multiply& op);
std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const Flatten& op);
std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const Embedding& op);
std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const PositionEmbedding& op);
std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const Tokens& op);
std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const ClassToken& op);
std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const SelectToken& op);
std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const Router& op);
std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const Dispatch& op);
std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const ExpertLinear& op);
std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const Combine& op);
std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const SoftmaxCrossEntropy& op);

/// Of a layer whose input's features, a row for each sample, its weight multiplies.
std::unique_ptr<Kernel> make_product_of_rows(const ShardSpec& spec, bool bias);
/// The shard's, without a bias that the product does not add.
Parameters parameters_of_product(const ShardSpec& spec, bool bias);

/// Of a convolution whose windows all lie in the padding.
std::unique_ptr<Kernel> make_convolution_in_padding(const ShardSpec& spec);

/// By the optimizer of the step, `count` parameters.
void update_parameters(const Operands& operands, std::int64_t count);

}  // namespace strata::cpu
