#pragma once

// What a device computes: the phases of one shard of one layer, on memory of that device. The
// executor knows when and on which buffers; a backend knows how. Regions, shapes and paddings are
// global coordinates of the network's tensors, so a shard inside a tensor has halos and no padding,
// and a shard at its edge has padding there and none elsewhere.
//
// A kernel belongs to one device and is used by that device's thread alone. It keeps nothing from
// one phase to another, but copies of parameters in a library's form, which each forward pass makes
// anew: what a backward pass needs of the forward pass is among the operands. So the rounds of a
// step may come in any order: several forward passes before the first backward one.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/geometry/geometry.h"
#include "sim/graph/graph.h"
#include "sim/graph/ops/phase.h"
#include "sim/graph/optimizer.h"

namespace strata {

/// A dense box of a tensor in a device's memory; how its elements lie there is the backend's own
/// affair, and follows from the box's extents alone. Empty: `data` is null.
struct Region {
  void* data = nullptr;
  Box box;
};

/// Which shard a kernel is for.
struct ShardSpec {
  const Graph* graph = nullptr;
  LayerId layer;
  Tile output;  ///< with the terms of its sums that the shard adds up
  /// By input of the layer: the boxes that its regions will have. One box for every op but
  /// Flatten (see needed_input()); an empty one where the shard needs nothing of that input. A box
  /// may reach beyond what is needed at its ends (the rows that a stride never meets).
  std::vector<std::vector<Box>> inputs;
  /// The backward phases are wanted, too.
  bool training = true;
  std::uint64_t seed = 0;  ///< of the dropout masks

  const Layer& operator*() const { return (*graph)[layer]; }
};

/// What the loss layer reports of its shard's positions in a round.
struct LossPart {
  /// Summed over the positions whose label lies in this shard, over those of the whole batch of all
  /// rounds.
  double loss = 0;
  std::int64_t correct = 0;  ///< of them, those whose label has the largest logit
};

/// What holds for a whole round of a step (Plan::rounds()), on every device.
struct StepContext {
  std::uint64_t step = 0;  ///< counted from 0; dropout draws anew in each
  float learning_rate = 0;
  std::span<const std::int64_t> labels;  ///< of the round's samples: by sample, then position
  Optimizer optimizer = Optimizer::sgd;
  OptimizerConstants constants = {};
  /// Sample n of the graph is the batch's sample round * (the graph's samples) + n.
  std::uint32_t round = 0, rounds = 1;
};

/// The memory that one phase works on. What a phase does not need may be empty.
struct Operands {
  /// Every input's regions, in the layer's order, flat: as many as ShardSpec::inputs has boxes.
  std::span<const Region> inputs;
  Region output;
  Region output_gradient;
  /// As `inputs`; a region without data where no gradient is wanted. What a phase writes, it writes
  /// whole, with zeros where nothing flows. An Add that reads one tensor twice writes the sum of
  /// both gradients into the first one's region.
  std::span<const Region> input_gradients;
  /// fp32, the weight (O, I/groups, kD, kH, kW), (O, I), (C), (C, positions) or of an embedding
  /// (vocabulary, C), row-major, then the bias; of the channels and terms of this shard
  /// (ParameterRows). Also for statistics that weigh by them.
  float* parameters = nullptr;
  float* parameter_gradients = nullptr;
  /// Of an update: state_words() tensors as the parameters, one after another; zeros before the
  /// first step. Null for plain SGD.
  float* optimizer_state = nullptr;
  /// The gradients of the inputs, or of the parameters, are added to what lies there: what layers
  /// made that read the same tensor (OpTraits::shares_reading); what other rounds made, or layers
  /// that share the weight, in whatever phase gives them.
  bool adds_input_gradients = false, adds_parameter_gradients = false;
  /// A statistics phase writes this shard's part; the phase after it finds all shards' combined.
  /// What they are, the op's page says at statistics(): of each channel, or each position, in turn.
  float* statistics = nullptr;
  /// What the forward phase keeps for the backward ones, as the op's page says at saved(): values
  /// that lie plain, one kind after the other, or as many elements as a region of the output's box
  /// has, of four bytes each, lying as there. Null where no backward phase follows.
  void* saved = nullptr;
  LossPart* loss = nullptr;
  const StepContext* step = nullptr;
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  /// `phase` is one that step_phases() names for the layer. Elementwise layers whose gradient
  /// follows from the output (and a Flatten that is a view) may be given the same memory as input
  /// and output, and as both gradients.
  virtual void run(Phase phase, const Operands& operands) = 0;
};

/// A kernel by what each phase does; what an op does not do is nothing. The gradient of the inputs
/// is asked for only where one of them wants it.
class PhasedKernel : public Kernel {
 public:
  void run(Phase phase, const Operands& operands) final;

 private:
  virtual void forward_statistics(const Operands&) {}
  virtual void forward(const Operands& operands) = 0;
  virtual void backward_statistics(const Operands&) {}
  virtual void backward_data(const Operands&) {}
  virtual void backward_weights(const Operands&) {}
  virtual void update(const Operands&) {}
};

}  // namespace strata
