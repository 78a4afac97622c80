#include "sim/plan/class_boxes.h"

#include <algorithm>
#include <compare>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "sim/graph/regions.h"

namespace strata {
namespace {

/// What boxes that are alike have in common, seen from one end: the other end's.
struct Kind {
  DeviceId device;
  bool local = false, same_host = false;
  std::int64_t elements = 0;
  auto operator<=>(const Kind&) const = default;
};

class Collector {
 public:
  Collector(const Partition& owned, const Config& producers, const Config& consumers,
            const DeviceClasses& classes)
      : owned_(owned), producers_(producers), consumers_(consumers), classes_(classes) {}

  void add(std::vector<NeededBox>& to, std::size_t first, std::span<const Box> boxes,
           const EdgeReads::Owner& owner, std::uint32_t reader, bool reader_counts) {
    const DeviceId from = producers_.devices[owner.shard], at = consumers_.devices[reader];
    const Kind kind{classes_.representative(reader_counts ? at : from), from == at,
                    classes_.share_host(from, at), owner.elements};
    if (to.size() == first) forget();
    if (const auto box = known(kind)) return static_cast<void>(++to[first + *box].copies);
    remember(kind);
    to.push_back({owner.shard, reader, from, at, box_of(boxes, owner.shard)});
  }

 private:
  Box box_of(std::span<const Box> boxes, std::uint32_t shard) const {
    const Box lies = owned_.box(shard);
    for (const Box& box : boxes) {
      if (const Box both = intersect(box, lies); !empty(both)) return both;
    }
    return {};
  }

  std::optional<std::size_t> known(const Kind& kind) const {
    if (kind.device() >= last_of_.size()) return std::nullopt;
    for (std::size_t k = last_of_[kind.device()]; k != kNone; k = kinds_[k].before) {
      if (kinds_[k].kind == kind) return k;
    }
    return std::nullopt;
  }
  void remember(const Kind& kind) {
    if (kind.device() >= last_of_.size()) last_of_.resize(kind.device() + 1, kNone);
    kinds_.push_back({kind, last_of_[kind.device()]});
    last_of_[kind.device()] = kinds_.size() - 1;
  }
  void forget() {
    for (const Known& known : kinds_) last_of_[known.kind.device()] = kNone;
    kinds_.clear();
  }

  static constexpr auto kNone = std::numeric_limits<std::size_t>::max();
  struct Known {
    Kind kind;
    std::size_t before;  // the one of the same device that came before it
  };

  const Partition& owned_;
  const Config& producers_;
  const Config& consumers_;
  const DeviceClasses& classes_;
  std::vector<Known> kinds_;          // of the boxes since `first`
  std::vector<std::size_t> last_of_;  // by device, in kinds_
};

// Each shard reads of the one that lies on its device, and nothing else.
ClassBoxes own_boxes(const Graph& graph, LayerId consumer, std::size_t input, const Config& config,
                     const DeviceClasses& classes) {
  const Extents& source = graph[graph[consumer].inputs[input]].output;
  const Partition outputs = partition(graph[consumer], config.degrees),
                  owned(source, config.degrees);
  const AccessMap access = access_map(graph, consumer, input);
  ClassBoxes boxes;
  for (std::uint32_t shard = 0; shard < config.devices.size(); ++shard) {
    const DeviceId device = config.devices[shard];
    if (!classes.is_representative(device)) continue;
    for (const Box& box : needed_input(access, source, outputs.tile(shard))) {
      const Box both = intersect(box, owned.box(shard));
      if (!empty(both)) boxes.read.push_back({shard, shard, device, device, both});
    }
  }
  boxes.returned = boxes.read;
  return boxes;
}

}  // namespace

ClassBoxes class_boxes(const Graph& graph, LayerId consumer, std::size_t input,
                       const Config& producer_config, const Config& consumer_config,
                       const DeviceClasses& classes) {
  if (reads_own_shard(graph, consumer, input, producer_config, consumer_config)) {
    return own_boxes(graph, consumer, input, consumer_config, classes);
  }
  const EdgeReads reads =
      edge_reads(graph, consumer, input, producer_config.degrees, consumer_config.degrees);
  const Partition owned(graph[graph[consumer].inputs[input]].output, producer_config.degrees);
  Collector collector(owned, producer_config, consumer_config, classes);
  ClassBoxes boxes;
  for (std::size_t k = 0; k < reads.boxes.size(); ++k) {
    for (const std::uint32_t reader : reads.readers[k]) {
      if (!classes.is_representative(consumer_config.devices[reader])) continue;
      const std::size_t first = boxes.read.size();
      for (const EdgeReads::Owner& owner : reads.owners[k]) {
        collector.add(boxes.read, first, reads.boxes[k], owner, reader, false);
      }
    }
    for (const EdgeReads::Owner& owner : reads.owners[k]) {
      if (!classes.is_representative(producer_config.devices[owner.shard])) continue;
      const std::size_t first = boxes.returned.size();
      for (const std::uint32_t reader : reads.readers[k]) {
        collector.add(boxes.returned, first, reads.boxes[k], owner, reader, true);
      }
    }
  }
  std::stable_sort(boxes.read.begin(), boxes.read.end(), [](const auto& a, const auto& b) {
    return a.consumer_shard < b.consumer_shard;
  });
  std::stable_sort(boxes.returned.begin(), boxes.returned.end(), [](const auto& a, const auto& b) {
    return a.producer_shard < b.producer_shard;
  });
  return boxes;
}

ClassBoxes class_partial_boxes(const Layer& layer, const Config& config,
                               const DeviceClasses& classes) {
  ClassBoxes boxes;
  for (const NeededBox& box : partial_boxes(layer, config)) {
    if (classes.is_representative(box.reader)) boxes.read.push_back(box);
    if (classes.is_representative(box.owner)) boxes.returned.push_back(box);
  }
  return boxes;
}

}  // namespace strata
