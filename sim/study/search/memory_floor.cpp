#include "sim/study/search/memory_floor.h"

#include <algorithm>
#include <variant>

#include "sim/graph/ops/phase.h"
#include "sim/graph/regions.h"
#include "sim/graph/step_phases.h"

namespace strata {
namespace {

// What the backward passes read is all there when the loss's begins: inputs, outputs, and what was
// saved beside them. A tensor with several readers is kept once, so each of them counts a part.
class Kept {
 public:
  Kept(const Graph& graph, DTypes dtypes, const KeptBy& by)
      : graph_(graph),
        dtypes_(dtypes),
        by_(by),
        needs_gradient_(requires_gradient(graph)),
        readers_(graph.size(), 0) {
    for (std::size_t i = 0; i < graph.size(); ++i) {
      for (std::size_t input : inputs_read(LayerId(i))) ++readers_[tensor(LayerId(i), input)()];
      if (reads_output(LayerId(i))) ++readers_[i];
    }
    const auto layers = graph.layers();
    has_instant_ = std::count_if(layers.begin(), layers.end(),
                                 [](const Layer& layer) { return is_loss(layer.op); }) == 1;
  }

  std::int64_t bytes(LayerId layer, const Degrees& degrees) const {
    const Layer& l = graph_[layer];
    const Tile shard = partition(l, degrees).tile(kFirst);
    const std::int64_t held = l.weight_of.valid() ? 0 : shard_parameters(l, shard).total();
    const std::int64_t parameters =
        held * (element_bytes(dtypes_.parameters) +
                (has_backward(layer) ? state_bytes(by_.kernels.optimizer, dtypes_.parameters) : 0));
    if (!has_instant_ || !has_backward(layer)) return parameters;
    std::int64_t values = 0;
    if (reads_output(layer)) values += volume(shard) / readers_[layer()];
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
  static constexpr PerDim<std::int32_t> kFirst{};  // the coordinates of shard 0

  // What the layer reads there. A flatten may be a view of what it reads itself.
  LayerId tensor(LayerId layer, std::size_t input) const {
    layer = graph_[layer].inputs[input];
    while (std::holds_alternative<Flatten>(graph_[layer].op)) layer = graph_[layer].inputs.front();
    return layer;
  }
  bool has_backward(LayerId layer) const {
    const PhaseSet phases = step_phases(graph_, layer, needs_gradient_);
    return phases[Phase::backward_data] || phases[Phase::backward_weights];
  }
  std::vector<std::size_t> inputs_read(LayerId layer) const {
    std::vector<std::size_t> inputs;
    if (!backward_reads_input(graph_[layer].op) || !has_backward(layer)) return inputs;
    for (std::size_t input = 0; input < graph_[layer].inputs.size(); ++input) {
      if (!earlier_reading(graph_[layer], input)) inputs.push_back(input);
    }
    return inputs;
  }
  bool reads_output(LayerId layer) const {
    return backward_reads_output(graph_[layer].op) && has_backward(layer);
  }

  const Graph& graph_;
  DTypes dtypes_;
  KeptBy by_;
  std::vector<bool> needs_gradient_;
  std::vector<std::int64_t> readers_;  // by layer: of its output
  bool has_instant_ = false;
};

}  // namespace

std::vector<std::vector<std::int64_t>> memory_floor(const Graph& graph, DTypes dtypes,
                                                    const SearchSpace& space, const KeptBy& by) {
  const Kept kept(graph, dtypes, by);
  std::vector<std::vector<std::int64_t>> floor;
  for (std::size_t v = 0; v < space.size(); ++v) {
    std::vector<std::int64_t>& bytes = floor.emplace_back();
    for (const Cut& cut : *space[v].cuts) {
      std::int64_t sum = 0;
      for (LayerId layer : space[v].layers)
        sum += kept.bytes(layer, space.cut_of(layer, cut).degrees);
      bytes.push_back(sum);
    }
  }
  return floor;
}

std::vector<std::vector<std::int64_t>> memory_floor(const Case& input, const SearchSpace& space) {
  KeptBy by{kernels_of(input), input.gathers_again};
  // Of replicas the server alone keeps state, and auto may choose it.
  const SyncAlgorithm sync = input.sync.algorithm;
  if (sync == SyncAlgorithm::ps || sync == SyncAlgorithm::automatic) {
    by.kernels.optimizer = Optimizer::sgd;
  }
  return memory_floor(input.graph, input.dtypes, space, by);
}

}  // namespace strata
