#pragma once

// What a training step does, over layers and buckets of parameters, never over devices one by one.
// Who reads a Step has an overload for every kind of action: one that it does not know does not
// compile. Values.

#include <cstdint>
#include <variant>

#include "sim/base/index.h"
#include "sim/graph/ops/phase.h"
#include "sim/step/shared_readings.h"

namespace strata {

/// Where the boxes of an input come from.
enum class ReadFrom : std::uint8_t {
  producer,         ///< the shards that made them
  another_reading,  ///< that another input, or another layer, had before
  before            ///< what another stage sent for the first forward pass, and was kept
};

/// The layer's shards get one of its inputs: transfers of the boxes that other devices have.
struct Read {
  LayerId layer;
  std::uint32_t input = 0;
  ReadFrom from = ReadFrom::producer;
  Reading of = {};           ///< of another reading: which
  bool when_wanted = false;  ///< was there all the time: is sent when its pass begins
};

/// The parameters that the layer's pass reads are whole from here on: gathered, where replicas
/// share them.
struct GatherParameters {
  LayerId layer;
  bool backward = false;  ///< waits as a backward pass does
  Phase phase = Phase::forward;
};

/// Kernels of each shard: `phase` and, where it is the gradient of the inputs, perhaps that of the
/// parameters right after it, shard by shard.
struct Compute {
  LayerId layer;
  Phase phase = Phase::forward;
  bool and_weights = false;
};

/// The shards of a layer combine their parts of a statistic.
struct SumStatistics {
  LayerId layer;
  Phase phase = Phase::forward_statistics;
};

/// The terms that shards of a layer cut in r have computed come together, at their owners.
struct SumPartialOutputs {
  LayerId layer;
};

/// What the readers of a layer's output give back becomes its gradient, at the shards that need it.
struct SumOutputGradient {
  LayerId layer;
};

/// The gradient of what the layer read goes back to the shards that made it.
struct ReturnGradient {
  LayerId layer;
  std::uint32_t input = 0;
};

/// What the layer's forward pass made, or its inputs alone, are made anew from here on.
struct Forget {
  LayerId layer;
  bool inputs_alone = false;
};

/// The layer is not computed again, but its backward pass reads inputs that were: it puts them
/// together once more, from reads that precede this.
struct PutTogetherAgain {
  LayerId layer;
};

/// Inputs that the forward pass gathered of other devices are gathered again for the gradient of
/// the parameters, and were not kept.
struct GatherInputsAgain {
  LayerId layer;
};

/// Replicas sum the gradients of a bucket.
struct SumGradients {
  std::uint32_t bucket = 0;
  std::uint32_t first = 0, last = 0;  ///< in Step::summed_at_once: all that end at once
};

/// Each replica gets the sum of its interval of a bucket's gradients: those of one round, or all.
struct ReduceScatter {
  std::uint32_t bucket = 0;
};

/// Groups of replicas that share add up their intervals of alike buckets, after ReduceScatter.
struct SumIntervals {
  std::uint32_t first = 0, alike = 1;  ///< buckets
};

/// Of a layer whose shards have no replicas. `on_host`, here and below: in the memory of the
/// device's host, which gets the gradients and gives back the parameters.
struct UpdateLayer {
  LayerId layer;
  bool on_host = false;
};

/// By every replica, after SumGradients: all parameters of the bucket. Nothing is left to do where
/// a parameter server has updated them.
struct UpdateBucket {
  std::uint32_t bucket = 0;
  bool on_host = false;
};

/// By every replica its interval, after ReduceScatter.
struct UpdateInterval {
  std::uint32_t bucket = 0;
  bool on_host = false;
};

/// Replicas get the intervals that the others updated.
struct GatherUpdated {
  std::uint32_t bucket = 0;
};

/// All devices that hold gradients get a number that decides over all updates: the norm of all
/// gradients, or whether one of them is infinite. What each device finds of its own is counted with
/// its updates.
struct SumGradientNorm {};

using Work = std::variant<Read, GatherParameters, Compute, SumStatistics, SumPartialOutputs,
                          SumOutputGradient, ReturnGradient, Forget, PutTogetherAgain,
                          GatherInputsAgain, SumGradients, ReduceScatter, SumIntervals, UpdateLayer,
                          UpdateBucket, UpdateInterval, GatherUpdated, SumGradientNorm>;

struct Action {
  Work work;
  std::uint32_t round = 0;
  /// Of what is computed again: the layer for whose backward pass, once its gradient is there.
  LayerId again_for = {};

  /// Whether it ends all rounds, as their updates do, and sums and gathers that belong to these:
  /// readers look at one round of all others.
  bool ends_rounds() const;
};

}  // namespace strata
