#include "sim/step/redistribution.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "sim/graph/regions.h"

namespace strata {
namespace {

// Calls visit(shard) for every shard of the partition that `box` touches, in shard order.
template <class Visit>
void for_shards_touching(const Partition& cut, const Box& box, Visit visit) {
  PerDim<Interval> range;
  for (Dim dim : kDims)
    range[dim] = parts_touching(cut.extents()[dim], cut.owners()[dim], box[dim]);
  PerDim<std::int32_t> at;
  const auto step = [&](auto self, std::size_t k) -> void {
    if (k == kDims.size()) return visit(cut.shard_at(at), cut.box(at));
    for (std::int64_t i = range.values[k].begin; i < range.values[k].end; ++i) {
      at.values[k] = static_cast<std::int32_t>(i);
      self(self, k + 1);
    }
  };
  step(step, 0);
}

}  // namespace

namespace {

// Of the copies of a shard's output, that on the device, else one by turns.
std::int64_t copy_for(const Partition& cut, const Config& config, const Partition& tiles,
                      std::int64_t tile, DeviceId device, std::int64_t turn) {
  const Degrees& degrees = config.degrees;
  PerDim<std::int32_t> at = tiles.coordinates(tile);
  const std::int32_t first = at[degrees.scatter] * degrees.r;
  for (std::int32_t copy = 0; copy < degrees.r; ++copy) {
    at[degrees.scatter] = first + copy;
    const std::int64_t shard = cut.shard_at(at);
    if (config.devices[static_cast<std::size_t>(shard)] == device) return shard;
  }
  at[degrees.scatter] = first + static_cast<std::int32_t>(turn % degrees.r);
  return cut.shard_at(at);
}

// One shard for all copies.
Degrees without_copies(Degrees degrees) {
  degrees.r = 1;
  degrees.scatter = Dim::n;
  return degrees;
}

}  // namespace

std::vector<NeededBox> needed_boxes(const Graph& graph, LayerId consumer, std::size_t input,
                                    const Config& producer_config, const Config& consumer_config) {
  const Layer& layer = graph[consumer];
  const Partition outputs = partition(layer, consumer_config.degrees);
  const Extents& source = graph[layer.inputs[input]].output;
  const Partition owned = partition(graph[layer.inputs[input]], producer_config.degrees);
  const bool copied = owned.repeats();
  const Partition tiles(source,
                        copied ? without_copies(producer_config.degrees) : producer_config.degrees);
  const AccessMap access = access_map(graph, consumer, input);
  std::vector<NeededBox> result;
  for (std::int64_t shard = 0; shard < outputs.shard_count(); ++shard) {
    const std::size_t first = result.size();
    for (const Box& box : needed_input(access, source, outputs.tile(shard))) {
      const DeviceId reader = consumer_config.devices[static_cast<std::size_t>(shard)];
      for_shards_touching(tiles, box, [&](std::int64_t tile, const Box& lies) {
        const std::int64_t owner =
            copied ? copy_for(owned, producer_config, tiles, tile, reader, shard) : tile;
        result.push_back({static_cast<std::uint32_t>(owner), static_cast<std::uint32_t>(shard),
                          producer_config.devices[static_cast<std::size_t>(owner)], reader,
                          intersect(box, lies)});
      });
    }
    // A flattened run can meet one owner in several boxes: keep them together.
    std::stable_sort(
        result.begin() + static_cast<std::ptrdiff_t>(first), result.end(),
        [](const NeededBox& a, const NeededBox& b) { return a.producer_shard < b.producer_shard; });
  }
  return result;
}

std::vector<NeededBox> returned_boxes(const Graph& graph, LayerId consumer, std::size_t input,
                                      const Config& producer_config,
                                      const Config& consumer_config) {
  const Layer& layer = graph[consumer];
  const Partition outputs = partition(layer, consumer_config.degrees);
  const bool copied = outputs.repeats();
  const Partition tiles(layer.output,
                        copied ? without_copies(consumer_config.degrees) : consumer_config.degrees);
  const Extents& source = graph[layer.inputs[input]].output;
  const Partition owned(source, producer_config.degrees);
  const AccessMap access = access_map(graph, consumer, input);
  std::vector<NeededBox> result;
  const std::int64_t count = copied ? tiles.shard_count() : outputs.shard_count();
  for (std::int64_t k = 0; k < count; ++k) {
    for (const Box& box :
         needed_input(access, source, copied ? Tile(tiles.box(k)) : outputs.tile(k))) {
      for_shards_touching(owned, box, [&](std::int64_t owner, const Box& lies) {
        const DeviceId to = producer_config.devices[static_cast<std::size_t>(owner)];
        const std::int64_t from =
            copied ? copy_for(outputs, consumer_config, tiles, k, to, owner) : k;
        result.push_back({static_cast<std::uint32_t>(owner), static_cast<std::uint32_t>(from), to,
                          consumer_config.devices[static_cast<std::size_t>(from)],
                          intersect(box, lies)});
      });
    }
  }
  std::stable_sort(result.begin(), result.end(), [](const NeededBox& a, const NeededBox& b) {
    return std::pair(a.consumer_shard, a.producer_shard) <
           std::pair(b.consumer_shard, b.producer_shard);
  });
  return result;
}

namespace {

// Whether each part of the layer needs elements of the same part of its input alone.
bool reads_along_cuts(const Graph& graph, LayerId consumer, std::size_t input,
                      const Degrees& degrees) {
  const AccessMap access = access_map(graph, consumer, input);
  const Extents &read = graph[graph[consumer].inputs[input]].output, &made = graph[consumer].output;
  return std::all_of(kDims.begin(), kDims.end(), [&](Dim dim) {
    if (degrees[dim] == 1) return true;
    if (access.row_major && dim != Dim::n) return false;
    if (access.is_whole(dim) || access.is_reduced(dim)) return false;
    const bool same = std::holds_alternative<access::Same>(access.dims[dim]);
    if (same && read[dim] == made[dim]) return true;
    for (std::int32_t i = 0; i < degrees[dim]; ++i) {
      const Interval lies = part(read[dim], degrees[dim], i);
      const Interval needs = needed(access.dims[dim], part(made[dim], degrees[dim], i), read[dim]);
      if (!needs.empty() && intersect(needs, lies) != needs) return false;
    }
    return true;
  });
}

}  // namespace

std::vector<NeededBox> boxes_of_whole_gradient(const Graph& graph, LayerId consumer,
                                               std::size_t input, const Config& config) {
  const Layer& producer = graph[graph[consumer].inputs[input]];
  const Partition made = partition(graph[consumer], config.degrees);
  const Partition computed = partition(producer, config.degrees);
  const AccessMap access = access_map(graph, consumer, input);
  std::vector<NeededBox> result;
  for (std::uint32_t shard = 0; shard < config.devices.size(); ++shard) {
    const DeviceId device = config.devices[shard];
    for (const Box& box : needed_input(access, producer.output, made.tile(shard))) {
      result.push_back({shard, shard, device, device, intersect(box, computed.tile(shard))});
    }
  }
  return result;
}

bool gets_whole_gradient(const Graph& graph, const Strategy& strategy, LayerId layer) {
  const Config& config = strategy[layer];
  if (config.degrees.r == 1 || graph.consumers(layer).empty()) return false;
  for (LayerId reader : graph.consumers(layer)) {
    if (graph[reader].reduction > 1 || strategy[reader] != config) return false;
    for (std::size_t input = 0; input < graph[reader].inputs.size(); ++input) {
      if (graph[reader].inputs[input] != layer) continue;
      if (!reads_along_cuts(graph, reader, input, config.degrees)) return false;
    }
  }
  return true;
}

bool reads_own_shard(const Graph& graph, LayerId consumer, std::size_t input,
                     const Config& producer_config, const Config& consumer_config) {
  if (!(producer_config == consumer_config)) return false;
  const Layer &layer = graph[consumer], &producer = graph[layer.inputs[input]];
  const bool sums = consumer_config.degrees.r > 1 &&
                    !(has_copies(layer, consumer_config) && has_copies(producer, producer_config));
  return !sums && reads_along_cuts(graph, consumer, input, consumer_config.degrees);
}

LayerId shared_reader(const Graph& graph, const Strategy& strategy, LayerId layer) {
  const LayerId first = first_reader(graph, layer);
  return first.valid() && strategy[first] == strategy[layer] ? first : LayerId{};
}

namespace {

// Each consumer shard by itself, of those that stand side by side.
EdgeReads by_consumer_shard(const std::vector<NeededBox>& boxes) {
  EdgeReads reads;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const NeededBox& box = boxes[i];
    if (i == 0 || boxes[i - 1].consumer_shard != box.consumer_shard) {
      reads.readers.push_back({box.consumer_shard});
      reads.boxes.emplace_back();
      reads.owners.emplace_back();
    } else {
      reads.in_pieces |= boxes[i - 1].producer_shard == box.producer_shard;
    }
    reads.boxes.back().push_back(box.box);
    reads.owners.back().push_back({box.producer_shard, volume(box.box)});
  }
  return reads;
}

}  // namespace

EdgeReads edge_reads(const Graph& graph, LayerId consumer, std::size_t input,
                     const Config& producer_config, const Config& consumer_config) {
  const Layer& layer = graph[consumer];
  if (has_copies(graph[layer.inputs[input]], producer_config)) {
    return by_consumer_shard(
        needed_boxes(graph, consumer, input, producer_config, consumer_config));
  }
  const Partition outputs = partition(layer, consumer_config.degrees);
  const Extents& source = graph[layer.inputs[input]].output;
  const Partition owned(source, producer_config.degrees);
  const AccessMap access = access_map(graph, consumer, input);
  EdgeReads reads;
  std::map<std::vector<Box>, std::size_t> known;
  for (std::int64_t shard = 0; shard < outputs.shard_count(); ++shard) {
    const auto [at, fresh] =
        known.try_emplace(needed_input(access, source, outputs.tile(shard)), reads.boxes.size());
    if (fresh) {
      reads.boxes.push_back(at->first);
      reads.readers.emplace_back();
      std::vector<EdgeReads::Owner>& owners = reads.owners.emplace_back();
      for (const Box& box : at->first) {
        for_shards_touching(owned, box, [&](std::int64_t owner, const Box& owner_box) {
          owners.push_back({static_cast<std::uint32_t>(owner), volume(intersect(box, owner_box))});
        });
      }
      std::sort(owners.begin(), owners.end(),
                [](const auto& a, const auto& b) { return a.shard < b.shard; });
      const auto same = [](const auto& a, const auto& b) { return a.shard == b.shard; };
      reads.in_pieces |= std::adjacent_find(owners.begin(), owners.end(), same) != owners.end();
    }
    reads.readers[at->second].push_back(static_cast<std::uint32_t>(shard));
  }
  return reads;
}

EdgeReads edge_returns(const Graph& graph, LayerId consumer, std::size_t input,
                       const Config& producer_config, const Config& consumer_config) {
  return by_consumer_shard(
      returned_boxes(graph, consumer, input, producer_config, consumer_config));
}

std::vector<NeededBox> partial_boxes(const Layer& layer, const Config& config) {
  const Partition cut = partition(layer, config.degrees);
  const std::int64_t shards = cut.shard_count();
  std::vector<NeededBox> result;
  result.reserve(static_cast<std::size_t>(shards * config.degrees.r));
  for (std::int64_t owner = 0; owner < shards; ++owner) {
    PerDim<std::int32_t> at = cut.coordinates(owner);
    std::int32_t& along = at[config.degrees.scatter];
    along -= along % config.degrees.r;
    for (std::int32_t term = 0; term < config.degrees.r; ++term, ++along) {
      const std::int64_t adder = cut.shard_at(at);
      result.push_back({static_cast<std::uint32_t>(adder), static_cast<std::uint32_t>(owner),
                        config.devices[static_cast<std::size_t>(adder)],
                        config.devices[static_cast<std::size_t>(owner)], cut.box(owner)});
    }
  }
  return result;
}

}  // namespace strata
