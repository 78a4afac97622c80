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
           const EdgeReads::Owner& owner, std::uint32_t reader, bool returned) {
    const DeviceId from = producers_.devices[owner.shard], at = consumers_.devices[reader];
    const Kind kind{classes_.representative(returned ? at : from), from == at,
                    classes_.share_domain(from, at), owner.elements};
    if (to.size() == first) forget();
    if (const auto box = known(kind)) return static_cast<void>(++to[first + *box].copies);
    remember(kind);
    to.push_back({owner.shard, reader, from, at, box_of(boxes, owner.shard, returned)});
  }

 private:
  Box box_of(std::span<const Box> boxes, std::uint32_t shard, bool returned) const {
    const Box lies = returned ? owned_.box(shard) : owned_.held(shard);
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
  const Layer& producer = graph[graph[consumer].inputs[input]];
  const Partition outputs = partition(graph[consumer], config.degrees),
                  owned = partition(producer, config.degrees);
  const AccessMap access = access_map(graph, consumer, input);
  ClassBoxes boxes;
  for (std::uint32_t shard = 0; shard < config.devices.size(); ++shard) {
    const DeviceId device = config.devices[shard];
    if (!classes.is_representative(device)) continue;
    const auto add = [&](std::vector<NeededBox>& to, const Box& read, const Box& lies) {
      const Box both = intersect(read, lies);
      if (!empty(both)) to.push_back({shard, shard, device, device, both});
    };
    for (const Box& box : needed_input(access, producer.output, outputs.tile(shard))) {
      add(boxes.read, box, owned.held(shard));
      add(boxes.returned, box, owned.box(shard));
    }
  }
  return boxes;
}

// What representatives read.
std::vector<NeededBox> class_reads(const EdgeReads& reads, const Config& consumers,
                                   const DeviceClasses& classes, Collector& collector) {
  std::vector<NeededBox> result;
  for (std::size_t k = 0; k < reads.boxes.size(); ++k) {
    for (const std::uint32_t reader : reads.readers[k]) {
      if (!classes.is_representative(consumers.devices[reader])) continue;
      const std::size_t first = result.size();
      for (const EdgeReads::Owner& owner : reads.owners[k]) {
        collector.add(result, first, reads.boxes[k], owner, reader, false);
      }
    }
  }
  std::stable_sort(result.begin(), result.end(), [](const auto& a, const auto& b) {
    return a.consumer_shard < b.consumer_shard;
  });
  return result;
}

// What goes back to them.
std::vector<NeededBox> class_returns(const EdgeReads& returns, const Config& producers,
                                     const DeviceClasses& classes, Collector& collector) {
  std::vector<NeededBox> result;
  for (std::size_t k = 0; k < returns.boxes.size(); ++k) {
    for (const EdgeReads::Owner& owner : returns.owners[k]) {
      if (!classes.is_representative(producers.devices[owner.shard])) continue;
      const std::size_t first = result.size();
      for (const std::uint32_t reader : returns.readers[k]) {
        collector.add(result, first, returns.boxes[k], owner, reader, true);
      }
    }
  }
  std::stable_sort(result.begin(), result.end(), [](const auto& a, const auto& b) {
    return a.producer_shard < b.producer_shard;
  });
  return result;
}

}  // namespace

ClassBoxes class_boxes(const Graph& graph, LayerId consumer, std::size_t input,
                       const Config& producer_config, const Config& consumer_config,
                       bool whole_gradient, const DeviceClasses& classes) {
  const bool own = reads_own_shard(graph, consumer, input, producer_config, consumer_config);
  if (own && !whole_gradient) return own_boxes(graph, consumer, input, consumer_config, classes);
  const Layer& producer = graph[graph[consumer].inputs[input]];
  const Partition owned = partition(producer, producer_config.degrees);
  Collector collector(owned, producer_config, consumer_config, classes);
  const EdgeReads reads = edge_reads(graph, consumer, input, producer_config, consumer_config);
  ClassBoxes boxes;
  boxes.read = class_reads(reads, consumer_config, classes, collector);
  if (whole_gradient) {
    boxes.returned = boxes_of_whole_gradient(graph, consumer, input, consumer_config);
    std::erase_if(boxes.returned,
                  [&](const NeededBox& box) { return !classes.is_representative(box.owner); });
    return boxes;
  }
  const bool copies =
      has_copies(producer, producer_config) || has_copies(graph[consumer], consumer_config);
  boxes.returned = class_returns(
      copies ? edge_returns(graph, consumer, input, producer_config, consumer_config) : reads,
      producer_config, classes, collector);
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
