#include "sim/study/search/memory_floor.h"

#include <algorithm>
#include <variant>

#include "sim/graph/phase.h"
#include "sim/graph/regions.h"
#include "sim/graph/step_phases.h"

namespace strata {
namespace {

template <class... Ops>
bool is_one_of(const Op& op) {
  return (std::holds_alternative<Ops>(op) || ...);
}

// The layers whose backward passes read their input or their output, by what they read: a tensor
// with several readers is kept once, so each of them counts a part.
class Kept {
 public:
  Kept(const Graph& graph, DTypes dtypes)
      : graph_(graph),
        value_bytes_(element_bytes(dtypes.values)),
        parameter_bytes_(element_bytes(dtypes.parameters)),
        needs_gradient_(requires_gradient(graph)),
        readers_(graph.size(), 0) {
    for (std::size_t i = 0; i < graph.size(); ++i) {
      if (reads_input(LayerId(i))) ++readers_[root(graph[LayerId(i)].inputs.front())()];
      if (reads_output(LayerId(i))) ++readers_[i];
    }
    const auto layers = graph.layers();
    has_instant_ = std::count_if(layers.begin(), layers.end(),
                                 [](const Layer& layer) { return is_loss(layer.op); }) == 1;
  }

  std::int64_t bytes(LayerId layer, const Degrees& degrees) const {
    const Layer& l = graph_[layer];
    const Box shard = Partition(l.output, degrees).box(kFirst);
    const std::int64_t parameters = shard_parameters(l, shard).total();
    std::int64_t values = 0;
    if (has_instant_ && reads_output(layer)) values += volume(shard) / readers_[layer()];
    if (has_instant_ && reads_input(layer)) {
      std::int64_t read = 0;
      for (const Box& box : needed_input(graph_, layer, 0, shard)) read += volume(box);
      values += read / readers_[root(l.inputs.front())()];
    }
    return parameters * parameter_bytes_ + values * value_bytes_;
  }

 private:
  static constexpr Degrees kFirst{};  // the coordinates of shard 0

  // A flatten is a view of what it reads.
  LayerId root(LayerId layer) const {
    while (std::holds_alternative<Flatten>(graph_[layer].op)) layer = graph_[layer].inputs.front();
    return layer;
  }
  bool has_backward(LayerId layer) const {
    const PhaseSet phases = step_phases(graph_, layer, needs_gradient_);
    return phases[Phase::backward_data] || phases[Phase::backward_weights];
  }
  bool reads_input(LayerId layer) const {
    return is_one_of<Convolution, FullyConnected, BatchNorm, LocalResponseNorm, Pooling,
                     AdaptivePooling>(graph_[layer].op) &&
           has_backward(layer);
  }
  bool reads_output(LayerId layer) const {
    return is_one_of<LocalResponseNorm, Pooling>(graph_[layer].op) && has_backward(layer);
  }

  const Graph& graph_;
  std::int64_t value_bytes_, parameter_bytes_;
  std::vector<bool> needs_gradient_;
  std::vector<std::int64_t> readers_;  // by layer: of its output
  bool has_instant_ = false;
};

}  // namespace

std::vector<std::vector<std::int64_t>> memory_floor(const Graph& graph, DTypes dtypes,
                                                    const SearchSpace& space) {
  const Kept kept(graph, dtypes);
  std::vector<std::vector<std::int64_t>> floor;
  for (std::size_t v = 0; v < space.size(); ++v) {
    std::vector<std::int64_t>& bytes = floor.emplace_back();
    for (const Cut& cut : *space[v].cuts) {
      std::int64_t sum = 0;
      for (LayerId layer : space[v].layers) sum += kept.bytes(layer, cut.degrees);
      bytes.push_back(sum);
    }
  }
  return floor;
}

}  // namespace strata
