#pragma once

// One layer cut in shards, run by the kernels phase by phase: what the executor does, without plan,
// threads or transfers. Every shard gets just the boxes that it needs, and what it makes is put
// together by coordinates, in doubles.

#include <memory>
#include <vector>

#include "exec/runtime/kernel.h"
#include "sim/geometry/geometry.h"
#include "sim/graph/phase.h"
#include "sim/graph/step_phases.h"
#include "tests/exec/cpu/tensors.h"
#include "tests/exec/reference/layers.h"

namespace strata::cpu {

/// How to run it.
struct Cut {
  Degrees degrees = kWhole;
  bool in_place = false;   ///< output over input, and one gradient over the other
  std::int64_t wider = 0;  ///< rows and columns that each input's box has beyond what is needed
};

class LayerOnShards {
 public:
  /// `call` is the layer with its inputs and weights, all values floats; it must outlive this.
  LayerOnShards(const reference::LayerCall& call, const Cut& cut);

  reference::Tensor forward();
  /// After forward().
  reference::Gradients backward(const reference::Tensor& output_gradient);
  /// The sum of the shards' parts, after forward().
  LossPart loss() const;

 private:
  struct Shard {
    Box box;
    std::unique_ptr<Kernel> kernel;
    std::vector<Held> inputs, input_gradients;  ///< flat, as Operands has them
    std::vector<std::size_t> input_of;          ///< of each: which input of the layer
    std::unique_ptr<Held> output, output_gradient;
    std::vector<float> parameters, parameter_gradients, statistics;
    LossPart loss;
  };

  void add_shard(const Box& box);
  void add_input(Shard& shard, std::size_t input, const Box& needed);
  ShardSpec spec_of(const Shard& shard) const;
  /// What a shard holds of its layer's weight or bias of `size` elements.
  Interval parameters_of(const Shard& shard, std::int64_t size) const;
  void load_parameters(Shard& shard) const;
  /// The shards that exchange statistics with one another, `shard` among them.
  std::vector<Shard*> group_of(const Shard& shard);

  void run(Phase phase);
  void run(Phase phase, Shard& shard) const;
  void combine_statistics(Phase phase);
  void add_input_gradients(Shard& shard, std::vector<reference::Tensor>& sums) const;
  void add_parameter_gradients(const Shard& shard, reference::Weights& sums) const;
  bool gives_gradient(const Shard& shard, std::size_t box) const;

  const reference::LayerCall& call_;
  Cut cut_;
  PhaseSet phases_;
  std::vector<Shard> shards_;
};

}  // namespace strata::cpu
