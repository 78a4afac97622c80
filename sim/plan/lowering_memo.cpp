#include "sim/plan/lowering_memo.h"

#include <utility>

#include "sim/graph/regions.h"

namespace strata {
namespace {

// About 100 MB.
constexpr std::size_t kMostHeld = 1'000'000;

ClassBoxes boxes_of(const Graph& graph, LayerId consumer, std::size_t input,
                    const Config& producer_config, const Config& consumer_config,
                    bool whole_gradient, const DeviceClasses* classes) {
  if (classes != nullptr) {
    return class_boxes(graph, consumer, input, producer_config, consumer_config, whole_gradient,
                       *classes);
  }
  ClassBoxes boxes;
  boxes.read = needed_boxes(graph, consumer, input, producer_config, consumer_config);
  const Layer &layer = graph[consumer], &producer = graph[layer.inputs[input]];
  if (!has_copies(producer, producer_config) && !has_copies(layer, consumer_config)) return boxes;
  boxes.returned = whole_gradient
                       ? boxes_of_whole_gradient(graph, consumer, input, consumer_config)
                       : returned_boxes(graph, consumer, input, producer_config, consumer_config);
  return boxes;
}

std::size_t size_of(const ClassBoxes& boxes) {
  return boxes.read.size() + boxes.returned.size();
}

std::size_t size_of(const ExchangeGroups& groups) {
  return groups.of.size();
}

}  // namespace

std::span<const LayerCounts> LoweringMemo::counts() {
  std::call_once(counted_, [this] { counts_ = count_actions(graph_, KernelTraits{}); });
  return counts_;
}

std::shared_ptr<const DeviceClasses> LoweringMemo::classes(DeviceClasses classes) {
  const std::lock_guard guard(lock_);
  for (const auto& known : classes_) {
    if (*known == classes) return known;
  }
  return classes_.emplace_back(std::make_shared<const DeviceClasses>(std::move(classes)));
}

template <class Key, class Value, class Make>
std::shared_ptr<const Value> LoweringMemo::remembered(
    std::map<Key, std::shared_ptr<const Value>>& known, Key key, const Make& make) {
  {
    const std::lock_guard guard(lock_);
    const auto at = known.find(key);
    if (at != known.end()) return at->second;
  }
  auto made = std::make_shared<const Value>(make());
  const std::lock_guard guard(lock_);
  const std::size_t size = size_of(*made);
  if (held_ + size > kMostHeld) return made;
  const auto [at, added] = known.try_emplace(std::move(key), std::move(made));
  if (added) held_ += size;
  return at->second;
}

std::shared_ptr<const ClassBoxes> LoweringMemo::boxes(LayerId consumer, std::size_t input,
                                                      const Config& producer_config,
                                                      const Config& consumer_config,
                                                      bool whole_gradient,
                                                      const DeviceClasses* classes) {
  const Layer &layer = graph_[consumer], &producer = graph_[layer.inputs[input]];
  EdgeKey key{access_map(graph_, consumer, input),
              producer.output,
              layer.output,
              producer.reduction,
              layer.reduction,
              whole_gradient,
              classes,
              producer_config,
              consumer_config};
  return remembered(boxes_, std::move(key), [&] {
    return boxes_of(graph_, consumer, input, producer_config, consumer_config, whole_gradient,
                    classes);
  });
}

std::shared_ptr<const ExchangeGroups> LoweringMemo::exchanges(LayerId consumer, std::size_t input,
                                                              const Config& producer_config,
                                                              const Config& consumer_config,
                                                              bool returned) {
  const Layer &layer = graph_[consumer], &producer = graph_[layer.inputs[input]];
  EdgeKey key{access_map(graph_, consumer, input),
              producer.output,
              layer.output,
              producer.reduction,
              layer.reduction,
              returned,
              nullptr,
              producer_config,
              consumer_config};
  return remembered(exchanges_, std::move(key), [&] {
    const bool copies = has_copies(producer, producer_config) || has_copies(layer, consumer_config);
    const EdgeReads moved =
        returned && copies ? edge_returns(graph_, consumer, input, producer_config, consumer_config)
                           : edge_reads(graph_, consumer, input, producer_config, consumer_config);
    return exchange_groups(moved, producer_config.devices, consumer_config.devices);
  });
}

std::shared_ptr<const ExchangeGroups> LoweringMemo::exchanges_of_sums(LayerId layer,
                                                                      const Config& config) {
  const Layer& it = graph_[layer];
  return remembered(exchanges_of_sums_, SumsKey{it.output, it.reduction, nullptr, config},
                    [&] { return partial_sum_groups(it, config); });
}

std::shared_ptr<const ClassBoxes> LoweringMemo::sums(LayerId layer, const Config& config,
                                                     const DeviceClasses* classes) {
  const Layer& it = graph_[layer];
  return remembered(sums_, SumsKey{it.output, it.reduction, classes, config}, [&] {
    if (classes != nullptr) return class_partial_boxes(it, config, *classes);
    std::vector<NeededBox> boxes = partial_boxes(it, config);
    return ClassBoxes{boxes, boxes};
  });
}

}  // namespace strata
