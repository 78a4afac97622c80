#pragma once

// The passes that make a Step: which actions a layer's forward and backward pass take, what is
// computed again between them, and what replicas do with the gradients. Internal to sim/step.

#include <cstdint>
#include <vector>

#include "sim/step/step.h"

namespace strata {

/// What the passes read, and the step so far: its actions do not yet have all that follow.
struct StepInProgress {
  const Graph& graph;
  const Strategy& strategy;
  const StepOptions& options;
  Step& step;

  void add(const Work& work, std::uint32_t round, LayerId again_for = {}) const {
    step.actions.push_back({work, round, again_for});
  }
};

/// Its inputs, one after another.
void add_reads(const StepInProgress& to, LayerId layer, std::uint32_t round,
               LayerId again_for = {});

/// Reads its inputs and computes its output.
void add_forward(const StepInProgress& to, LayerId layer, std::uint32_t round,
                 LayerId again_for = {});

/// Which gradients a backward pass makes: those of inputs, of parameters, or both shard by shard.
struct Gradients {
  bool of_inputs = true, of_parameters = true;
};

/// Segments that the backward passes of some rounds have computed again.
class Recomputation {
 public:
  explicit Recomputation(const StepInProgress& to)
      : to_(to), done_(to.options.rounds), put_together_(to.options.rounds) {}

  /// Where the backward pass comes to the last layer of a segment.
  void add(LayerId layer, std::uint32_t round);
  /// Whether the layer puts together again what is computed again.
  bool puts_together_again(LayerId layer, std::uint32_t round) const {
    return !put_together_[round].empty() && put_together_[round][layer()];
  }

 private:
  std::vector<LayerId> segment_until(LayerId layer) const;
  bool reads_of_segment(LayerId layer, std::uint32_t segment) const;

  const StepInProgress& to_;
  std::vector<std::vector<bool>> done_;          // by round and segment
  std::vector<std::vector<bool>> put_together_;  // by round and layer
};

void add_backward(const StepInProgress& to, LayerId layer, std::uint32_t round,
                  const Gradients& gradients, Recomputation& recomputation);

/// What is done with the gradients of parameters as the last of them are made.
class ReplicaSums {
 public:
  explicit ReplicaSums(const StepInProgress& to);

  /// The layer's gradients of the round are made.
  void add(LayerId layer, std::uint32_t round);
  /// After all instances.
  void add_end(std::uint32_t round);

 private:
  void add_sums(LayerId holder, std::uint32_t round);
  void reduce_round(LayerId holder, std::uint32_t round);
  /// At once or, where devices compute instances in turn, after all of them, as frameworks do: an
  /// update among them would hold up the stages that wait for the next one's gradients. After all
  /// of them, too, where updates wait for a norm.
  void update(const Work& work, std::uint32_t round);

  struct RoundLeft {
    std::vector<std::size_t> parts;     // by bucket: whose gradients are to come
    std::vector<std::uint32_t> layers;  // by holder of a weight: likewise
  };
  const StepInProgress& to_;
  std::vector<std::vector<std::uint32_t>> buckets_with_;  // by layer
  std::vector<std::size_t> parts_left_;                   // by bucket
  std::vector<std::uint32_t> rounds_left_;                // by holder, of all rounds
  std::vector<RoundLeft> of_round_;                       // where replicas share gradients
  std::vector<Work> late_;
};

/// All of them, in the order of the schedule.
void add_passes(const Graph& graph, const Strategy& strategy, const StepOptions& options,
                Step& step);

}  // namespace strata
