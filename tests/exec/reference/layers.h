#pragma once

// What each op computes, and its gradient, on whole tensors of doubles: the definition, loop by
// loop. Pure; thread-safe.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sim/graph/graph.h"
#include "tests/exec/reference/tensor.h"

namespace strata::reference {

/// A layer's parameters or their gradients, row-major: (O, I/groups, kD, kH, kW), (O, I), (C) or
/// (C, positions); of an embedding (vocabulary, C), of experts (experts, O, I).
struct Weights {
  std::vector<double> weight, bias;
  bool operator==(const Weights&) const = default;
};

/// What dropout multiplies an element with (0, or 1/(1-p)), by the element's place in the layer's
/// whole output, row-major; an attention's, in its softmaxes: (n, heads, queries, keys).
using DropoutMask = std::function<double(LayerId, std::int64_t element)>;

/// One layer at work.
struct LayerCall {
  const Graph* graph = nullptr;
  LayerId id;
  std::vector<const Tensor*> inputs;
  const Weights* weights = nullptr;
  std::span<const std::int64_t> labels;  ///< by sample, then position; the loss's alone
  const DropoutMask* mask = nullptr;  ///< null or an empty function: every element stays as it is

  const Layer& layer() const { return (*graph)[id]; }
  double dropout_factor(std::int64_t element) const {
    return mask != nullptr && *mask ? (*mask)(id, element) : 1;
  }
  const Tensor& input() const { return *inputs[0]; }
};

struct Gradients {
  std::vector<Tensor> inputs;
  Weights weights;
};

/// The layer's output; of softmax cross-entropy the class probabilities. Not for an Input.
Tensor forward(const LayerCall& call);

/// The gradients of what the layer reads. Softmax cross-entropy ignores `output_gradient`: its own
/// is that of the mean loss.
Gradients backward(const LayerCall& call, const Tensor& output, const Tensor& output_gradient);

/// Mean over the batch's positions of -ln softmax(logits)[label]; labels by sample, then position.
double cross_entropy(const Tensor& logits, std::span<const std::int64_t> labels);

}  // namespace strata::reference
