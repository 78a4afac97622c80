#pragma once

// The referee of the execution engine: one training step of any Graph on whole tensors, in double
// precision, by the definitions of its ops and nothing else. It knows no shards, no layouts and no
// libraries, so that whatever it shares with the engine is the network alone.

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "sim/graph/graph.h"
#include "tests/exec/reference/layers.h"
#include "tests/exec/reference/tensor.h"

namespace strata::reference {

/// What a step reads.
struct Batch {
  std::vector<Tensor> inputs;        ///< of the graph's input layers, in their order
  std::vector<std::int64_t> labels;  ///< by sample, then position
};

/// What a step computes; by layer.
struct Step {
  double loss = 0;           ///< mean over the batch; summed, where a graph has several losses
  std::int64_t correct = 0;  ///< count_correct()
  std::vector<Tensor> outputs;
  std::vector<Tensor> output_gradients;  ///< of the loss; zeros where it does not depend on a layer
  std::vector<Weights> gradients;        ///< of a weight that layers share, the sum, at its owner
};

/// `weights`: of every layer, empty where it has none of its own. Networks without a loss have no
/// gradient.
Step run_step(const Graph& graph, const std::vector<Weights>& weights, const Batch& batch,
              const DropoutMask& mask = {});

/// By which elements are set to zero: a dropout's, or an attention's; else 0.
double dropout_probability(const Op& op);

/// Positions whose label has the largest logit, the first of equal ones.
std::int64_t count_correct(const Tensor& logits, std::span<const std::int64_t> labels);

/// Plain SGD: w -= rate * gradient.
void descend(std::vector<Weights>& weights, const std::vector<Weights>& gradients, double rate);

/// Uniform in +-sqrt(3 / inputs of an output), so that activations keep their size; biases in
/// +-0.1; norms' scales in [0.5, 1.5]; embeddings in +-1.
std::vector<Weights> random_weights(const Graph& graph, std::mt19937_64& random);
/// The layer whose weights it computes with: its own, or the one that it shares them with.
inline LayerId weight_owner(const Graph& graph, LayerId layer) {
  const LayerId owner = graph[layer].weight_of;
  return owner.valid() ? owner : layer;
}
/// Uniform in [low, high); where an embedding reads it, whole numbers of its vocabulary.
Tensor random_input(const Graph& graph, LayerId input, double low, double high,
                    std::mt19937_64& random);
/// Data in [-1, 1), labels of the first loss's classes (none without one).
Batch random_batch(const Graph& graph, std::mt19937_64& random);

}  // namespace strata::reference
