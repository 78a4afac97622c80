#include "sim/search/memory_floor.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "sim/base/cancel.h"
#include "sim/graph/ops/phase.h"
#include "sim/graph/regions.h"
#include "sim/step/layer_counts.h"
#include "sim/step/shard_groups.h"

namespace strata {
namespace {

// What the backward passes read is all there when the loss's begins: inputs, outputs, and what was
// saved beside them. A tensor with several readers is kept once, so each of them counts a part.
class Kept {
 public:
  Kept(Graph graph, DTypes dtypes, const KeptBy& by)
      : graph_(std::move(graph)),
        dtypes_(dtypes),
        by_(by),
        counts_(count_actions(graph_, by.kernels, by.segments)),
        readers_(graph_.size(), 0),
        is_shared_(graph_.size(), false) {
    for (const Layer& layer : graph_.layers()) {
      if (layer.weight_of.valid()) is_shared_[layer.weight_of()] = true;
    }
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      if (is_in_segment(LayerId(i))) continue;
      for (std::size_t input : inputs_read(LayerId(i))) ++readers_[tensor(LayerId(i), input)()];
      if (reads_output(LayerId(i))) ++readers_[i];
    }
    const auto layers = graph_.layers();
    has_instant_ = std::count_if(layers.begin(), layers.end(),
                                 [](const Layer& layer) { return is_loss(layer.op); }) == 1;
  }

  std::int64_t bytes(LayerId layer, const Degrees& degrees) const {
    const Layer& l = graph_[layer];
    const Partition parts = partition(l, degrees);
    const Tile shard = parts.tile(kFirst);
    // Of sums that shards scatter, one holds its part.
    const std::int64_t output = volume(parts.held(0));
    const std::int64_t held = l.weight_of.valid() ? 0 : shard_parameters(l, shard).total();
    const std::int64_t state =
        has_backward(layer) && l.trains() ? state_bytes(by_.optimizer, dtypes_.parameters) : 0;
    // Of a bucket that it is in, whose interval is at least that of each layer by itself.
    const std::int64_t part = interval(layer, degrees, held);
    const std::int64_t parameters =
        held_bytes(l, by_.zero >= Zero::parameters ? part : held, dtypes_.parameters).value +
        (by_.zero >= Zero::state ? part : held) * state;
    if (!has_instant_ || !has_backward(layer)) return parameters;
    std::int64_t values = 0;
    if (readers_[layer()] == 0 && begins_a_segment(layer)) values += output;
    if (is_in_segment(layer)) return parameters + values * element_bytes(dtypes_.values);
    if (reads_output(layer)) values += output / readers_[layer()];
    for (std::size_t input : inputs_read(layer)) {
      if (by_.gathers_again) break;
      std::int64_t read = 0;
      for (const Box& box : needed_input(graph_, layer, input, shard)) read += volume(box);
      values += read / readers_[tensor(layer, input)()];
    }
    std::vector<Extents> inputs;
    for (LayerId input : l.inputs) inputs.push_back(graph_[input].output);
    const Saved kept = saved(l.op, {shard, inputs, dtypes_.values, by_.kernels});
    const std::int64_t beside = 4 * (kept.each_element ? volume(shard) : kept.values) + kept.masks;
    return parameters + (values + kept.elements) * element_bytes(dtypes_.values) + beside;
  }

 private:
  bool is_in_segment(LayerId layer) const {
    return !by_.segments.empty() && by_.segments[layer()] != 0;
  }
  // Whether a segment is computed again from the layer's output.
  bool begins_a_segment(LayerId layer) const {
    if (by_.segments.empty() || is_input(graph_[layer].op) || is_computed_again(layer)) {
      return false;
    }
    const auto readers = graph_.consumers(layer);
    return std::any_of(readers.begin(), readers.end(), [&](LayerId reader) {
      return is_in_segment(reader) && is_computed_again(reader) &&
             by_.segments[reader()] != by_.segments[layer()];
    });
  }
  // At least; of a weight of which there are copies more than are known here.
  std::int64_t interval(LayerId layer, const Degrees& degrees, std::int64_t held) const {
    const bool frozen_and_shared = graph_[layer].frozen && by_.zero >= Zero::parameters;
    if (!counts_[layer()].updates && !frozen_and_shared) return held;
    return is_shared_[layer()] ? 0
                               : held / static_cast<std::int64_t>(
                                            replica_shards(graph_[layer], degrees).front().size());
  }

  static constexpr PerDim<std::int32_t> kFirst{};  // the coordinates of shard 0

  // What the layer reads there. A flatten may be a view of what it reads itself.
  LayerId tensor(LayerId layer, std::size_t input) const {
    layer = graph_[layer].inputs[input];
    while (std::holds_alternative<Flatten>(graph_[layer].op)) layer = graph_[layer].inputs.front();
    return layer;
  }
  bool has_backward(LayerId layer) const {
    const LayerCounts& counts = counts_[layer()];
    return counts.computes(Phase::backward_data) || counts.computes(Phase::backward_weights);
  }
  bool is_computed_again(LayerId layer) const {
    return counts_[layer()].times(Phase::forward, 1) > 1;
  }
  std::vector<std::size_t> inputs_read(LayerId layer) const {
    std::vector<std::size_t> inputs;
    if (!backward_reads_input(graph_[layer]) || !has_backward(layer)) return inputs;
    for (std::size_t input = 0; input < graph_[layer].inputs.size(); ++input) {
      if (!earlier_reading(graph_[layer], input)) inputs.push_back(input);
    }
    return inputs;
  }
  bool reads_output(LayerId layer) const {
    return backward_reads_output(graph_[layer].op) && has_backward(layer);
  }

  Graph graph_;
  DTypes dtypes_;
  KeptBy by_;
  std::vector<LayerCounts> counts_;    // by layer
  std::vector<std::int64_t> readers_;  // by layer: of its output
  std::vector<bool> is_shared_;        // by layer: others have its weight
  bool has_instant_ = false;
};

// Of a network by the samples of a round: a layer that is cut into so many parts of them is in
// rounds of at least so many micro-batches.
class KeptOfRounds {
 public:
  KeptOfRounds(const Case& input, const KeptBy& by) : input_(input), by_(by) {}

  std::int64_t bytes(LayerId layer, const Degrees& degrees) {
    const std::int64_t parts = input_.cut ? degrees[Dim::n] : 1;
    auto at = kept_.find(parts);
    if (at == kept_.end()) {
      Graph graph =
          input_.cut ? input_.graph.with_batch(input_.cut->samples * parts) : input_.graph;
      at = kept_.try_emplace(parts, std::move(graph), input_.dtypes, by_).first;
    }
    return at->second.bytes(layer, degrees);
  }

 private:
  const Case& input_;
  const KeptBy& by_;
  std::map<std::int64_t, Kept> kept_;
};

}  // namespace

std::vector<std::vector<std::int64_t>> memory_floor(const Case& input, const SearchSpace& space,
                                                    const std::atomic<bool>* cancelled) {
  KeptBy by{kernels_of(input), input.optimizer, input.gathers_again, {}, input.sync.zero};
  by.segments = segments(input.graph, input.recompute, by.kernels);
  // Of replicas the server alone keeps state, and auto may choose it; or hosts keep it.
  if (input.sync.algorithm == SyncAlgorithm::ps || input.sync.updates_on_host() ||
      (input.sync.algorithm == SyncAlgorithm::automatic && !input.sync.shares())) {
    by.optimizer = Optimizer::sgd;
  }
  KeptOfRounds kept(input, by);
  std::vector<std::vector<std::int64_t>> floor;
  floor.reserve(space.size());
  for (std::size_t v = 0; v < space.size(); ++v) {
    std::vector<std::int64_t>& bytes = floor.emplace_back();
    for (const Cut& cut : *space[v].cuts) {
      throw_if_cancelled(cancelled);
      std::int64_t sum = 0;
      for (LayerId layer : space[v].layers) {
        sum += kept.bytes(layer, space.cut_of(layer, cut).degrees);
      }
      bytes.push_back(sum);
    }
  }
  return floor;
}

}  // namespace strata
