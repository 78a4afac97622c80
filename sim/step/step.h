#pragma once

// One training step as actions over layers, in the order in which a framework would issue them:
// forward passes in the graph's order, backward ones in reverse, in rounds as the schedule has
// them; what is computed again, gathered, summed over replicas and updated stands where it happens.
// It depends on a strategy's cuts and stages, and on no device: expand() (sim/plan) makes the tasks
// of devices, or of one device of each class, from it. Values; thread-safe to read.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "sim/graph/step_phases.h"
#include "sim/step/action.h"
#include "sim/step/buckets.h"
#include "sim/step/gradient_sync.h"
#include "sim/step/merged_products.h"
#include "sim/strategy/schedule.h"
#include "sim/strategy/stages.h"
#include "sim/strategy/strategy.h"

namespace strata {

/// What all actions on a layer have in common.
struct StepLayer {
  PhaseSet phases;
  LayerId holder;         ///< whose parameters it computes with
  LayerId shared_reader;  ///< reads its only input for it, too; invalid where it does so itself
  bool needs_gradient = false;
  bool trains = false;            ///< holds parameters that are updated
  bool copied = false;            ///< several layers hold copies of its weight, of which it is one
  bool again = false;             ///< its forward pass is computed twice
  bool repeats = false;           ///< its shards are copies
  bool divides_sums = false;      ///< its shards compute terms that others add up
  bool whole_gradient = false;    ///< of what a shard computes, on its own device
  bool spreads_gradient = false;  ///< that goes from owners to all shards of the same sums
};

/// The actions of one instance of the schedule.
struct StepInstance {
  Instance instance;
  std::size_t first = 0, last = 0;  ///< in Step::actions
  bool ends_round = false;          ///< nothing after it needs what the round kept
};

struct Step {
  std::uint32_t rounds = 1;
  bool in_turn = false;  ///< devices compute instances one after another
  Stages stages;
  std::vector<StepLayer> layers;
  MergedProducts products;
  std::vector<Bucket> buckets;  ///< by the layer that ends them, last layer first
  /// By inputs that another layer's input has, too: that one; and by that one, all others.
  std::map<Reading, Reading> shared_readings;
  std::map<Reading, std::vector<Reading>> read_with;
  std::vector<std::uint32_t> summed_at_once;  ///< buckets (SumGradients)
  std::vector<Action> actions;
  std::vector<StepInstance> instances;
  std::size_t end = 0;  ///< in actions: what follows after all instances

  const StepLayer& operator[](LayerId layer) const { return layers[layer()]; }
  /// The layer that has what `layer` reads.
  LayerId reader_for(LayerId layer) const {
    const LayerId first = layers[layer()].shared_reader;
    return first.valid() ? first : layer;
  }
  /// Whether another layer has for this one what arrives of the input.
  bool is_read_by_another(LayerId layer, std::uint32_t input) const {
    return layers[layer()].shared_reader.valid() || shared_readings.contains({layer, input});
  }
};

struct StepOptions {
  GradientSync sync = {};
  std::int64_t gradient_bytes = 4;  ///< of an element
  KernelTraits kernels = {};        ///< keeping_most() of all devices: who must compute again
  bool gathers_again = false;       ///< LowerOptions::gathers_again
  std::uint32_t rounds = 1;
  ScheduleChoice schedule = {};
  Products products = Products::apart;
};

/// `strategy` must be sound for the graph. Throws InputError where the schedule does not suit its
/// stages, or the synchronisation is not sound (check()).
Step make_step(const Graph& graph, const Strategy& strategy, const StepOptions& options);

/// Whether replicas share the gradients, or the parameters, of the bucket. Where stages hold copies
/// of a weight, only its optimizer's state is shared: a sum in each round would have the last stage
/// wait for the first one's gradient.
bool shares_gradients(const GradientSync& sync, const Bucket& bucket);
bool shares_parameters(const GradientSync& sync, const Bucket& bucket);

/// Whether a gradient of the input goes back to its producer; of an input that stands twice, once.
bool wants_gradient(const Graph& graph, const Step& step, LayerId layer, std::size_t input);

}  // namespace strata
