#pragma once

// The ops one by one; layers.h chooses among them. Every *_backward adds to no state: it returns
// the gradient of the loss in what the forward pass read, given `dy`, that of its output.

#include "sim/graph/op.h"
#include "tests/exec/reference/layers.h"

namespace strata::reference {

Tensor convolution(const LayerCall& call, const Convolution& op);
Gradients convolution_backward(const LayerCall& call, const Convolution& op, const Tensor& dy);

Tensor fully_connected(const LayerCall& call, const FullyConnected& op);
Gradients fully_connected_backward(const LayerCall& call, const FullyConnected& op,
                                   const Tensor& dy);

Tensor linear(const LayerCall& call, const Linear& op);
Gradients linear_backward(const LayerCall& call, const Linear& op, const Tensor& dy);

Tensor attention(const LayerCall& call, const Attention& op);
Gradients attention_backward(const LayerCall& call, const Attention& op, const Tensor& dy);

Tensor embedding(const LayerCall& call, const Embedding& op);
Gradients embedding_backward(const LayerCall& call, const Embedding& op, const Tensor& dy);
Tensor position_embedding(const LayerCall& call);
Gradients position_embedding_backward(const LayerCall& call, const Tensor& dy);
Tensor class_token(const LayerCall& call);
Gradients class_token_backward(const LayerCall& call, const Tensor& dy);
Tensor select_token(const LayerCall& call, const SelectToken& op);
Tensor select_token_backward(const LayerCall& call, const SelectToken& op, const Tensor& dy);

Tensor router(const LayerCall& call, const Router& op);
Gradients router_backward(const LayerCall& call, const Router& op, const Tensor& dy);
Tensor dispatch(const LayerCall& call, const Dispatch& op);
Gradients dispatch_backward(const LayerCall& call, const Dispatch& op, const Tensor& dy);
Tensor expert_linear(const LayerCall& call, const ExpertLinear& op);
Gradients expert_linear_backward(const LayerCall& call, const ExpertLinear& op, const Tensor& dy);
Tensor combine(const LayerCall& call, const Combine& op);
Gradients combine_backward(const LayerCall& call, const Combine& op, const Tensor& dy);

Tensor pooling(const LayerCall& call, const Pooling& op);
Tensor pooling_backward(const LayerCall& call, const Pooling& op, const Tensor& dy);
Tensor adaptive_pooling(const LayerCall& call, const AdaptivePooling& op);
Tensor adaptive_pooling_backward(const LayerCall& call, const AdaptivePooling& op,
                                 const Tensor& dy);

/// y = f(x) and f'(x); at a kink the derivative that PyTorch takes.
double activate(const Activation& op, double x);
double derivative(const Activation& op, double x);

/// y = w (x - mean) / sqrt(variance + epsilon) + b, the variance biased, over n, d, h, w.
Tensor batch_norm(const LayerCall& call, const BatchNorm& op);
Gradients batch_norm_backward(const LayerCall& call, const BatchNorm& op, const Tensor& dy);

/// The same at each position n, d, h, w over the channels; w and b are of a channel, if there are
/// any.
Tensor layer_norm(const LayerCall& call, const LayerNorm& op);
Gradients layer_norm_backward(const LayerCall& call, const LayerNorm& op, const Tensor& dy);

/// y = w x / sqrt(mean of x^2 + epsilon), at each position over the channels, or those of each
/// head, which all have one w.
Tensor rms_norm(const LayerCall& call, const RmsNorm& op);
Gradients rms_norm_backward(const LayerCall& call, const RmsNorm& op, const Tensor& dy);

/// y = x / (k + alpha/size * sum of the neighbours' x^2)^beta.
Tensor local_response_norm(const LayerCall& call, const LocalResponseNorm& op);
Tensor local_response_norm_backward(const LayerCall& call, const LocalResponseNorm& op,
                                    const Tensor& dy);

/// Of each sample and position, over the channels.
Tensor softmax(const Tensor& logits);

}  // namespace strata::reference
