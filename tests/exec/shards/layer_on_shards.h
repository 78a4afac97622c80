#pragma once

// One layer cut in shards, run by a backend's kernels phase by phase: what the executor does,
// without plan, threads or transfers. Every shard gets just the boxes that it needs, and what it
// makes is put together by coordinates, in doubles. Memory begins as NaN in every step, so that
// whatever is not written shows.

#include <memory>
#include <vector>

#include "exec/runtime/kernel.h"
#include "sim/geometry/geometry.h"
#include "sim/graph/ops/phase.h"
#include "sim/graph/step_phases.h"
#include "tests/exec/reference/layers.h"
#include "tests/exec/shards/site.h"

namespace strata::shards {

/// Of the masks of a LayerOnShards, whose steps all have the number 0.
inline constexpr std::uint64_t kSeed = 7;

/// How to run it.
struct Cut {
  Degrees degrees = kWhole;
  bool in_place = false;   ///< output over input, and one gradient over the other
  std::int64_t wider = 0;  ///< rows and columns that each input's box has beyond what is needed
  /// Gradients of the inputs, or of the parameters, are added to what lies there.
  bool adds_inputs = false, adds_parameters = false;
};

class LayerOnShards {
 public:
  /// `call` is the layer with its inputs and weights, all values as the site holds them; both must
  /// outlive this. The shards sit on the devices in turn.
  LayerOnShards(Site& site, const reference::LayerCall& call, const Cut& cut);

  reference::Tensor forward();
  /// After forward().
  reference::Gradients backward(const reference::Tensor& output_gradient);
  /// The sum of the shards' parts, after forward().
  LossPart loss() const;

 private:
  struct Values {
    float* data = nullptr;
    std::int64_t count = 0;
  };
  struct Shard {
    Tile box;
    DeviceId device;
    std::vector<Region> inputs, input_gradients;  ///< flat, as Operands has them
    std::vector<std::size_t> input_of;            ///< of each: which input of the layer
    Region output, output_gradient;
    Values parameters, parameter_gradients, statistics, combined, saved;
    std::shared_ptr<void> loss;
    std::vector<std::shared_ptr<void>> memory;  ///< all of the above
    std::unique_ptr<Kernel> kernel;
  };

  void add_shard(const Tile& tile);
  void add_input(Shard& shard, std::size_t input, const Box& needed);
  Region hold(Shard& shard, const Box& box);
  Values hold(Shard& shard, std::int64_t count);
  ShardSpec spec_of(const Shard& shard) const;
  /// The shards that exchange statistics with one another, `shard` among them.
  std::vector<const Shard*> group_of(const Shard& shard) const;

  void spoil(const Region& region);
  void spoil(const Values& values);
  void load(const Region& to, const reference::Tensor& from);
  void begin_gradients(Shard& shard);
  void load_step(Shard& shard);
  void load_parameters(Shard& shard);
  void run(Phase phase, Shard& shard);
  void run(Phase phase);
  void combine_statistics(Phase phase);
  void accumulate(reference::Tensor& to, const Shard& shard, const Region& from, float less = 0);
  void add_input_gradients(const Shard& shard, std::vector<reference::Tensor>& sums);
  void add_parameter_gradients(const Shard& shard, reference::Weights& sums);
  bool gives_gradient(const Shard& shard, std::size_t box) const;

  Site& site_;
  Backend& backend_;
  const reference::LayerCall& call_;
  Cut cut_;
  PhaseSet phases_;
  StepContext step_;
  std::vector<Shard> shards_;
};

}  // namespace strata::shards
