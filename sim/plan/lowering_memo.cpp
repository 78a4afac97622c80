#include "sim/plan/lowering_memo.h"

#include <utility>

namespace strata {
namespace {

// About 100 MB.
constexpr std::size_t kMostHeld = 1'000'000;

ClassBoxes boxes_of(const Graph& graph, LayerId consumer, std::size_t input,
                    const Config& producer_config, const Config& consumer_config,
                    const DeviceClasses* classes) {
  if (classes != nullptr) {
    return class_boxes(graph, consumer, input, producer_config, consumer_config, *classes);
  }
  return {needed_boxes(graph, consumer, input, producer_config, consumer_config), {}};
}

}  // namespace

std::shared_ptr<const DeviceClasses> LoweringMemo::classes(DeviceClasses classes) {
  const std::lock_guard guard(lock_);
  for (const auto& known : classes_) {
    if (*known == classes) return known;
  }
  return classes_.emplace_back(std::make_shared<const DeviceClasses>(std::move(classes)));
}

std::shared_ptr<const ClassBoxes> LoweringMemo::boxes(LayerId consumer, std::size_t input,
                                                      const Config& producer_config,
                                                      const Config& consumer_config,
                                                      const DeviceClasses* classes) {
  EdgeKey key{consumer, input, classes, producer_config, consumer_config};
  {
    const std::lock_guard guard(lock_);
    const auto known = boxes_.find(key);
    if (known != boxes_.end()) return known->second;
  }
  auto made = std::make_shared<const ClassBoxes>(
      boxes_of(graph_, consumer, input, producer_config, consumer_config, classes));
  const std::lock_guard guard(lock_);
  const std::size_t size = made->read.size() + made->returned.size();
  if (held_ + size > kMostHeld) return made;
  const auto [at, added] = boxes_.try_emplace(std::move(key), std::move(made));
  if (added) held_ += size;
  return at->second;
}

}  // namespace strata
