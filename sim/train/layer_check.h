#pragma once

// Whether each layer of a plan computes what one device computes from the same inputs. The plan
// runs two steps and shows what its shards hold; one device follows, layer by layer: it computes
// each layer's output, the gradient of its output and of its parameters, and the parameters that
// follow from these, compares them with what the plan's shards held, and goes on from that. So
// nothing adds up, and what differs is this layer's own doing: its kernels, its halos, what its
// inputs or gradients went through on their way, its replicas' sums. Not thread-safe.
//
// Where a layer's own sums cancel (a bias before a batch norm, a norm over two values), 1e-5 of
// what is left is too much to ask: then the device computes it again, from inputs one unit in the
// last place away, and a few times the difference is allowed. And where a parameter's gradient is a
// sum of N terms, 8 sqrt(N) u, at most 1e-4: roundings are a random walk, a few times as long
// (Higham, Accuracy and Stability of Numerical Algorithms, section 4.5). What a plan's shards do
// not show is not forgiven.

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/case/weights.h"
#include "sim/measure/runner.h"
#include "sim/timeline/execution.h"

namespace strata {

/// A distance of two tensors over the length of one device's.
struct TensorDifference {
  double value = 0;
  double allowed = 0;
  std::string layer;
  std::string what;  ///< "output", "loss"
  std::size_t step = 0;
  std::uint32_t shard = 0;  ///< whose part is farthest

  bool within() const { return value <= allowed; }
  /// Whether it is more of what it is allowed to be.
  bool is_nearer_than(const TensorDifference& other) const {
    return value * other.allowed >= other.value * allowed;
  }
};

struct LayerCheck {
  std::size_t layers = 0, steps = 0;     ///< that were compared; none where `skipped` says why
  TensorDifference largest;              ///< of those that are within what is allowed
  std::vector<TensorDifference> beyond;  ///< in the order in which they came
  std::string skipped;
};

/// What a layer may differ by: sums of a thousand terms in another order round by some 1e-7.
double layer_tolerance(DType type);

/// Of a loss from one device's, `one`: relative to it, or absolute where that is below 1, as what
/// a softmax's logarithm rounds by is. Not a number where a loss is none.
double loss_difference(double cut, double one);

struct LayerCheckCase {
  Runner& runner;
  const std::string& devices;
  const Graph& graph;  ///< of a round
  const Plan& plan;    ///< the cut
  const Plan& alone;   ///< one device's, in as many rounds
  ExecutionOptions execution;
  const NetworkWeights& weights;
  BatchOf batch_of;
  bool shares = false;  ///< replicas have an interval of a layer's gradients each (ZeRO)
};
/// Steps compared, of how many, and one device's last loss.
using LayerProgress = std::function<void(std::size_t steps, std::size_t of, double loss)>;
/// Throws Cancelled, and the errors of the Runner.
LayerCheck check_layers(const LayerCheckCase& input, const std::atomic<bool>* cancelled,
                        const LayerProgress& progress = {});

}  // namespace strata
