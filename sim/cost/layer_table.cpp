#include "sim/cost/layer_table.h"

#include <algorithm>

#include "sim/base/cancel.h"
#include "sim/cost/eq1.h"
#include "sim/cost/layer_costs.h"
#include "sim/graph/regions.h"
#include "sim/step/shard_groups.h"

namespace strata {
namespace {

bool one_kind(const Cluster& cluster, std::span<const CostModel* const> models) {
  for (std::size_t i = 1; i < models.size(); ++i) {
    if (models[i] != models[0]) return false;
    if (cluster[DeviceId(i)].speed != cluster[DeviceId(0)].speed) return false;
  }
  return true;
}

// How groups of shards that differ only in the dims of `over` lie over the devices: runs of digits
// with degree, stride and whether they are in `over`. Equal keys, equal groups.
std::vector<std::int32_t> group_key(const Cut& cut, const PerDim<bool>& over) {
  std::vector<std::int32_t> key;
  const auto add = [&](std::int32_t degree, std::int32_t stride, bool within) {
    if (degree == 1) return;
    const std::size_t last = key.size();
    if (last > 0 && key[last - 1] == within && key[last - 2] == degree * stride) {
      key[last - 3] *= degree;
      key[last - 2] = stride;
    } else {
      key.insert(key.end(), {degree, stride, within});
    }
  };
  for (Dim dim : kDims) {
    const std::int32_t neighbours = dim == cut.degrees.scatter ? cut.degrees.r : 1;
    add(cut.degrees[dim], cut.strides[dim] * neighbours, over[dim]);
    add(neighbours, cut.strides[dim], false);
  }
  return key;
}

// And how large the groups' shards are: uneven parts of two dims are not those of one.
std::vector<std::int32_t> sized(std::vector<std::int32_t> key, const Cut& cut,
                                const PerDim<bool>& over) {
  for (Dim dim : kDims) {
    if (!over[dim]) key.push_back(cut.degrees[dim]);
  }
  key.insert(key.end(), {cut.degrees.r, static_cast<std::int32_t>(cut.degrees.scatter)});
  return key;
}

bool exchanges(const Cut& cut, const PerDim<bool>& over) {
  return std::any_of(kDims.begin(), kDims.end(),
                     [&](Dim dim) { return over[dim] && cut.degrees[dim] > 1; });
}

// Of each group, by its first shard's box.
template <class BytesOf>
std::vector<Bytes> bytes_by_group(const Layer& layer, const Cut& cut, const PerDim<bool>& over,
                                  const BytesOf& bytes_of) {
  const Partition shards = partition(layer, cut.degrees);
  std::vector<Bytes> bytes;
  for (const auto& group : shard_groups(cut.degrees, over)) {
    bytes.push_back(bytes_of(shards.tile(group.front())));
  }
  return bytes;
}

// All that the tile needs of an input along `dim`: most ops read each dim by itself.
Interval hull(const AccessMap& access, const Extents& input, Dim dim, const Tile& tile) {
  if (!access.row_major) return needed(access.dims[dim], tile[dim], input[dim], tile.terms);
  Interval all;
  for (const Box& box : needed_input(access, input, tile)) {
    all = all.empty()
              ? box[dim]
              : Interval{std::min(all.begin, box[dim].begin), std::max(all.end, box[dim].end)};
  }
  return all;
}

}  // namespace

LayerTable::LayerTable(const Graph& graph, const Cluster& cluster,
                       std::span<const CostModel* const> models, SyncAlgorithm sync,
                       const ComputeSettings& settings, std::uint32_t rounds,
                       std::span<const LayerCounts> counts)
    : graph_(graph),
      cluster_(cluster),
      models_(models),
      sync_(sync),
      settings_(settings),
      products_(merge_products(graph, settings.products)),
      rounds_(rounds),
      counts_(counts),
      alike_(one_kind(cluster, models)),
      ordinals_(parameter_ordinals(graph)),
      sync_costs_(cluster) {}

std::vector<double> LayerTable::seconds(LayerId layer, const Cuts& cuts,
                                        const std::atomic<bool>* cancelled) const {
  Known known;
  std::vector<double> result;
  result.reserve(cuts.size());
  for (const Cut& choice : cuts) {
    throw_if_cancelled(cancelled);
    // What has no sums to divide follows the output of the layer that has.
    const Cut cut = graph_[layer].reduction == 1 ? output_cut(choice) : choice;
    result.push_back(compute(layer, cut, known) + sync(layer, cut, known) +
                     rounds_ * partial_sums(layer, cut, known));
  }
  return result;
}

// Of the layers that are one product with the layer, which its cost depends on.
std::vector<std::int64_t> LayerTable::merged_channels(LayerId layer) const {
  std::vector<std::int64_t> channels;
  for (LayerId each : products_.of(layer)) {
    channels.push_back(graph_[each].output[Dim::c]);
  }
  return channels;
}

bool LayerTable::equal(LayerId a, LayerId b) const {
  const Layer &x = graph_[a], &y = graph_[b];
  if (x.output != y.output || x.parameters != y.parameters || counts_[a()] != counts_[b()] ||
      x.inputs.size() != y.inputs.size() || !(x.op == y.op) || x.speed != y.speed ||
      x.format != y.format ||
      types_of(graph_, a, settings_.dtypes) != types_of(graph_, b, settings_.dtypes)) {
    return false;
  }
  // A parameter server is another replica for every layer.
  const bool serves = sync_ == SyncAlgorithm::ps || sync_ == SyncAlgorithm::automatic;
  if (serves && x.parameters.total() > 0 && a != b) return false;
  if (merged_channels(a) != merged_channels(b)) return false;
  return std::equal(x.inputs.begin(), x.inputs.end(), y.inputs.begin(),
                    [&](LayerId i, LayerId j) { return graph_[i].output == graph_[j].output; });
}

LayerTable::Shape LayerTable::shape(LayerId layer, Dim dim, Interval part, Interval terms) const {
  const Layer& l = graph_[layer];
  Tile tile(whole(l.output), terms);
  tile[dim] = part;
  Shape shape{part.size(), {}};
  for (std::size_t input = 0; input < l.inputs.size(); ++input) {
    const Extents& read = graph_[l.inputs[input]].output;
    shape.inputs.push_back(hull(access_map(graph_, layer, input), read, dim, tile).size());
  }
  return shape;
}

const LayerTable::Shapes& LayerTable::distinct_shapes(LayerId layer, Dim dim, std::int32_t degree,
                                                      Known& known) const {
  const auto [at, fresh] = known.shapes.try_emplace({dim, degree});
  Shapes& shapes = at->second;
  for (std::int64_t i = 0; fresh && i < degree; ++i) {
    Shape next = shape(layer, dim, part(graph_[layer].output[dim], degree, i));
    if (std::find(shapes.begin(), shapes.end(), next) == shapes.end()) {
      shapes.push_back(std::move(next));
    }
  }
  return shapes;
}

// Those of the first terms come with the bias.
std::vector<Interval> LayerTable::distinct_terms(LayerId layer, std::int32_t degree) const {
  if (degree == 1) return {Tile::kAllTerms};
  const std::int64_t all = graph_[layer].reduction;
  std::vector<Interval> terms;
  for (std::int64_t i = 0; i < degree; ++i) {
    const Interval next = part(all, degree, i);
    const auto alike = [&](const Interval& other) {
      return other.size() == next.size() && other.begin > 0;
    };
    if (std::none_of(terms.begin(), terms.end(), alike)) terms.push_back(next);
  }
  return terms;
}

// All phases of one shard.
double LayerTable::cost(LayerId layer, const PerDim<const Shape*>& shapes, Interval terms,
                        const CostModel& model) const {
  const Layer& l = graph_[layer];
  Extents output;
  std::vector<Extents> inputs(l.inputs.size());
  for (Dim dim : kDims) {
    output[dim] = shapes[dim]->output;
    for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i][dim] = shapes[dim]->inputs[i];
  }
  for (Extents& input : inputs) {
    if (volume(input) == 0) input = {};
  }
  const PhaseCosts costs = shard_costs(graph_, layer, products_.of(layer), {whole(output), terms},
                                       inputs, settings_, model);
  double sum = 0;
  for (std::size_t phase = 0; phase < kKernelPhases; ++phase) {
    const double times = counts_[layer()].times(static_cast<Phase>(phase), rounds_);
    if (times > 0) sum += times * costs[phase].seconds.value;
  }
  return sum;
}

double LayerTable::compute(LayerId layer, const Cut& cut, Known& known) const {
  if (!alike_) return compute_by_device(layer, cut);
  PerDim<const Shapes*> choices;
  PerDim<std::size_t> at{};
  PerDim<const Shape*> shapes;
  for (Dim dim : kDims) choices[dim] = &distinct_shapes(layer, dim, cut.degrees[dim], known);
  double slowest = 0;
  for (const Interval& terms : distinct_terms(layer, cut.degrees.r)) {
    for (std::size_t k = 0; k < kDims.size();) {
      for (Dim dim : kDims) shapes[dim] = &(*choices[dim])[at[dim]];
      Shape reduced;
      if (cut.degrees.r > 1) {
        const std::int64_t channels = shapes[Dim::c]->output;
        reduced = shape(layer, Dim::c, {0, channels}, terms);
        shapes[Dim::c] = &reduced;
      }
      slowest = std::max(slowest, cost(layer, shapes, terms, *models_.front()));
      for (k = 0; k < kDims.size() && ++at.values[k] == choices.values[k]->size(); ++k) {
        at.values[k] = 0;
      }
    }
  }
  return slowest / cluster_[DeviceId(0)].speed;
}

double LayerTable::compute_by_device(LayerId layer, const Cut& cut) const {
  const Config config = config_of(cut);
  const Partition parts = partition(graph_[layer], cut.degrees);
  double slowest = 0;
  for (std::size_t shard = 0; shard < config.devices.size(); ++shard) {
    const Tile tile = parts.tile(static_cast<std::int64_t>(shard));
    PerDim<Shape> shapes;
    PerDim<const Shape*> pointers;
    for (Dim dim : kDims) {
      shapes[dim] = shape(layer, dim, tile[dim], tile.terms);
      pointers[dim] = &shapes[dim];
    }
    const DeviceId device = config.devices[shard];
    slowest = std::max(
        slowest, cost(layer, pointers, tile.terms, *models_[device()]) / cluster_[device].speed);
  }
  return slowest;
}

const JointSync& LayerTable::joint(const GroupKey& key, const Cut& cut,
                                   const PerDim<bool>& over) const {
  {
    const std::lock_guard guard(lock_);
    const auto known = joints_.find(key);
    if (known != joints_.end()) return *known->second;
  }
  const Config config = config_of(cut);
  std::vector<std::vector<DeviceId>> groups;
  for (const auto& shards : shard_groups(cut.degrees, over)) {
    std::vector<DeviceId>& devices = groups.emplace_back();
    for (std::uint32_t shard : shards) devices.push_back(config.devices[shard]);
  }
  const JointSync& made = sync_costs_.joint(groups);
  const std::lock_guard guard(lock_);
  return *joints_.try_emplace(key, &made).first->second;
}

double LayerTable::parameter_time(LayerId layer, const Cut& cut, const JointSync& joint) const {
  const Layer& l = graph_[layer];
  const auto bytes = bytes_by_group(l, cut, l.parameters.replicated(), [&](const Tile& shard) {
    return Bytes{shard_parameters(l, shard).total() * element_bytes(settings_.dtypes.gradients)};
  });
  const std::uint32_t ordinal = ordinals_[layer()];
  const SyncAlgorithm algorithm = sync_ == SyncAlgorithm::automatic
                                      ? joint.cheapest(parameter_algorithms(), bytes, ordinal)
                                      : sync_;
  return joint.time(algorithm, bytes, ordinal).value;
}

double LayerTable::statistics_time(LayerId layer, const Cut& cut, const PerDim<bool>& over,
                                   const JointSync& joint) const {
  const Layer& l = graph_[layer];
  double sum = 0;
  for (const Phase phase : {Phase::forward_statistics, Phase::backward_statistics}) {
    if (!counts_[layer()].sums_statistics[phase]) continue;
    const auto bytes = bytes_by_group(
        l, cut, over, [&](const Box& box) { return statistics(l, box).bytes(phase); });
    sum += joint.time(joint.cheapest(statistics_algorithms(), bytes, 0), bytes, 0).value;
  }
  return sum;
}

// Choices whose owners hold as much and whose sums lie alike cost the same.
double LayerTable::partial_sums(LayerId layer, const Cut& cut, Known& known) const {
  const Layer& l = graph_[layer];
  const std::int32_t r = cut.degrees.r;
  if (r == 1) return 0;
  GroupKey key = {r, cut.strides[cut.degrees.scatter], static_cast<std::int32_t>(cut.shards())};
  const Degrees owners = output_degrees(cut.degrees);
  for (Dim dim : kDims) {
    if (l.output[dim] % owners[dim] != 0) key.clear();
  }
  const auto time = [&] {
    const auto boxes = partial_boxes(l, config_of(cut));
    return exchange_time(boxes, cluster_, element_bytes(settings_.dtypes.values),
                         counts_[layer()].spreads_gradient)
        .value;
  };
  if (key.empty()) return time();
  const auto [at, fresh] = known.partial_sums.try_emplace(key, 0);
  if (fresh) at->second = time();
  return at->second;
}

double LayerTable::sync(LayerId layer, const Cut& cut, Known& known) const {
  const Layer& l = graph_[layer];
  const LayerCounts& counts = counts_[layer()];
  double sum = 0;
  const PerDim<bool> replicated = l.parameters.replicated();
  if (counts.updates && exchanges(cut, replicated)) {
    const GroupKey key = group_key(cut, replicated);
    const auto [at, fresh] = known.parameters.try_emplace(sized(key, cut, replicated), 0);
    if (fresh) at->second = parameter_time(layer, cut, joint(key, cut, replicated));
    sum += at->second;
  }
  if (counts.sums_statistics[Phase::forward_statistics] ||
      counts.sums_statistics[Phase::backward_statistics]) {
    const PerDim<bool> over = statistics(l, whole(l.output)).over;
    if (!exchanges(cut, over)) return sum;
    const GroupKey key = group_key(cut, over);
    const auto [at, fresh] = known.statistics.try_emplace(sized(key, cut, over), 0);
    if (fresh) at->second = statistics_time(layer, cut, over, joint(key, cut, over));
    sum += rounds_ * at->second;
  }
  return sum;
}

}  // namespace strata
