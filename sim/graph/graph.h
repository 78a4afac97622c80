#pragma once

// The computation graph G of the paper: layers in topological order, each with its op, its inputs
// and its output's extents. Immutable once built; GraphBuilder checks every layer as it is added,
// so a Graph that exists is sound. Thread-safe to read.

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/index.h"
#include "sim/geometry/geometry.h"
#include "sim/graph/expert_routing.h"
#include "sim/graph/op.h"

namespace strata {

inline constexpr std::size_t kMaxLayers = 100'000;

/// In what a frozen layer's parameters lie: in the type of the others or, of a product, in fewer
/// bits, from which a pass makes that type before each product that reads them.
enum class WeightFormat : std::uint8_t {
  plain,
  int8,  ///< a byte each, and an fp32 scale for each output channel
  /// 4 bits each; of each 64 a scale in 8 bits, of 256 of these one in fp32 (Dettmers et al.,
  /// "QLoRA", 2023)
  nf4
};

struct Layer {
  std::string name;
  Op op;
  std::vector<LayerId> inputs;  ///< all smaller than the layer's own id
  Extents output;               ///< n is the global batch
  Parameters parameters;        ///< that it computes with
  LayerId weight_of;  ///< the layer before whose parameters these are; its own where invalid
  /// Terms of each output element's sum, of which a cut in r makes parts: the input channels of a
  /// convolution or a linear layer, an embedding's vocabulary. 1 where there is no such sum.
  std::int64_t reduction = 1;
  Extents units{};   ///< what degrees must divide in each dim (an attention's heads in c); 0: any
  double speed = 1;  ///< a what-if: costs are divided by it
  ExpertRouting routing = {};  ///< what-ifs, of layers from a dispatch to its combination
  bool frozen = false;         ///< no step trains its parameters
  WeightFormat format = WeightFormat::plain;
  /// The layer whose product it adapts, as a part of what stands beside that or as the sum of both
  /// (finetuning.h); invalid for most.
  LayerId adapts;

  /// Parameters of its own.
  Parameters held() const { return weight_of.valid() ? Parameters{} : parameters; }
  /// Whether a step makes a gradient of parameters that it computes with.
  bool trains() const { return !frozen && parameters.total() > 0; }
  bool operator==(const Layer&) const = default;
};

class Graph {
 public:
  const std::string& name() const { return name_; }
  std::int64_t batch() const { return batch_; }
  /// The most samples that a graph of this network can have, so that no count overflows (limits.h).
  std::int64_t largest_batch() const { return largest_batch_; }

  std::size_t size() const { return layers_.size(); }
  const Layer& operator[](LayerId id) const { return layers_[id()]; }
  std::span<const Layer> layers() const { return layers_; }
  /// The layers that read `id`'s output, in order; a reader of it twice stands twice.
  std::span<const LayerId> consumers(LayerId id) const { return consumers_[id()]; }
  /// Invalid if there is none.
  LayerId find(std::string_view layer_name) const;
  /// Whether the output's gradient is needed, as requires_gradient() has it.
  bool needs_gradient(LayerId id) const { return needs_gradient_[id()]; }

  /// The same network for another global batch. Throws InputError if that is too large or < 1.
  Graph with_batch(std::int64_t batch) const;
  /// The same network with other speeds, by layer; positive.
  Graph with_speeds(std::span<const double> speeds) const;
  /// The same network whose experts are reached otherwise, by layer.
  Graph with_routings(std::span<const ExpertRouting> routings) const;

  std::int64_t parameters() const;
  /// Of these, those that a step trains.
  std::int64_t trained_parameters() const;
  /// Of these, those that a token computes with: of experts as many as it has.
  std::int64_t active_parameters() const;

  bool operator==(const Graph&) const = default;

 private:
  friend class GraphBuilder;
  std::string name_;
  std::int64_t batch_ = 1, largest_batch_ = 1;
  std::vector<Layer> layers_;
  std::vector<std::vector<LayerId>> consumers_;
  std::map<std::string, LayerId, std::less<>> by_name_;
  std::vector<bool> needs_gradient_;
};

/// For each layer, whether its output's gradient is needed: a loss depends on it (where the graph
/// has one), and it has parameters that are trained, or one of its inputs requires a gradient. The
/// network's data does not, so a first layer computes no backward_data.
std::vector<bool> requires_gradient(const Graph& graph);

/// Whether any backward phase of the layer reads its inputs beside the gradient: not those that
/// only the gradient of frozen parameters is made from.
inline bool backward_reads_input(const Layer& layer) {
  return backward_reads_input(layer.op, layer.trains());
}

/// Bytes of `values` of the layer's parameters, which would be of type `dtype`.
Bytes held_bytes(const Layer& layer, std::int64_t values, DType dtype);

/// Multiply-accumulates of the forward pass of a shard of `layer` (the whole layer:
/// whole(layer.output)). Convolutions and fully-connected layers; 0 for the others, as the field
/// counts.
std::int64_t macs(const Graph& graph, LayerId layer, const Tile& shard);
std::int64_t macs(const Graph& graph, LayerId layer);

/// Of the layer's sums, how many terms the shard adds up.
inline std::int64_t terms_in(const Layer& layer, const Tile& shard) {
  return intersect(shard.terms, {0, layer.reduction}).size();
}
/// The layer's shards under a cut.
inline Partition partition(const Layer& layer, const Degrees& degrees) {
  return {layer.output, degrees, layer.reduction};
}

/// Builds a Graph layer by layer, inferring shapes. Throws InputError that names the layer.
class GraphBuilder {
 public:
  explicit GraphBuilder(std::string name, std::int64_t batch = 1);

  /// Appends a layer. Its name must be new; inputs must exist, fit the op and not be a loss.
  LayerId add(std::string layer_name, Op op, std::vector<LayerId> inputs);

  /// No step trains the parameters of a layer that was added. Throws InputError for a format that
  /// is not for the layer: it must be a product with a weight of its own.
  void freeze(LayerId layer, WeightFormat format = WeightFormat::plain);
  /// `layer` adapts the product of `base`, an earlier layer.
  void adapt(LayerId layer, LayerId base) { graph_.layers_[layer()].adapts = base; }

  std::size_t size() const { return graph_.size(); }
  const Extents& output(LayerId id) const { return graph_.layers_[id()].output; }
  LayerId find(std::string_view layer_name) const { return graph_.find(layer_name); }

  /// Ends the building. Throws InputError if there is no input or no layer.
  Graph build() &&;

 private:
  void check_inputs(const std::vector<LayerId>& inputs) const;
  LayerId find_weight(std::string_view owner, const Op& op, const Layer& layer) const;
  Layer infer(std::string layer_name, Op op, std::vector<LayerId> inputs) const;
  void count(const Layer& layer);
  std::int64_t largest_batch() const;

  Graph graph_;
  std::int64_t elements_ = 0;    ///< made, read and held so far; bounded
  std::int64_t parameters_ = 0;  ///< of these, the held ones
  std::int64_t macs_ = 0;        ///< so far; bounded
};

}  // namespace strata
