#pragma once

// One function per op that makes a shard's kernel: cuDNN and cuBLAS for what multiplies matrices,
// own loops over n d h w c for the rest. A kernel puts its work on its seat's stream and returns.
// Every shape is local, every padding asymmetric. Tensors in the seat's type, all arithmetic in
// fp32. What a phase writes, it writes whole.

#include <memory>

#include "exec/cuda/streams/seat.h"
#include "exec/runtime/kernel.h"
#include "sim/graph/op.h"

namespace strata::cuda {

/// Of the layer's op. The seat must outlive it. Throws EnvironmentError where a library refuses.
std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec);

// Each in the source of its name, both poolings in one, both embeddings, linear with fully
// connected, what makes and takes apart tokens in tokens.cu, and what moves them to experts and
// back in experts.cu; `op` is the layer's.
std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const Convolution& op);
std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const FullyConnected& op);
std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const Linear& op);
std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const Attention& op);
std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const Pooling& op);
std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const AdaptivePooling& op);
std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const Activation& op);
std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const BatchNorm& op);
std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const LayerNorm& op);
std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const RmsNorm& op);
std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const LocalResponseNorm& op);
std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const Dropout& op);
std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const Concat& op);
std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const Add& op);
std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const Multiply& op);
std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const GatedActivation& op);
std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const Embedding& op);
std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const PositionEmbedding& op);
std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const Tokens& op);
std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const ClassToken& op);
std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const SelectToken& op);
std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const Router& op);
std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const Dispatch& op);
std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const ExpertLinear& op);
std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const Combine& op);
std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const Flatten& op);
std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec,
                                    const SoftmaxCrossEntropy& op);

/// Whether the layer is a network's input that embeddings alone read.
bool holds_numbers(const Graph& graph, LayerId layer);

/// `KernelOf<float>` or `KernelOf<Bf16>`, as the seat's tensors are, from the other arguments.
template <template <class> class KernelOf, class... Arguments>
std::unique_ptr<Kernel> make_of_type(Type type, Arguments&&... arguments) {
  return with_type(type, [&]<class T>(T) -> std::unique_ptr<Kernel> {
    return std::make_unique<KernelOf<T>>(std::forward<Arguments>(arguments)...);
  });
}

/// By the optimizer of the step, `count` parameters.
void update_parameters(const Operands& operands, std::int64_t count, Seat& seat);

}  // namespace strata::cuda
