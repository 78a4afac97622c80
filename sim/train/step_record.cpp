#include "sim/train/step_record.h"

#include <algorithm>
#include <utility>

namespace strata {

bool StepRecord::see(const TensorKey& tensor, std::uint32_t shard, std::span<float> values) {
  Part part{shard, {values.begin(), values.end()}};
  const std::lock_guard lock(mutex_);
  std::vector<Part>& parts = parts_[tensor];
  const auto after = [](std::uint32_t s, const Part& p) { return s < p.shard; };
  parts.insert(std::upper_bound(parts.begin(), parts.end(), shard, after), std::move(part));
  return false;
}

void StepRecord::add_gradients(LayerId layer, std::vector<float> whole) {
  gradients_[layer] = std::move(whole);
}

std::span<const float> StepRecord::whole(const TensorKey& tensor) const {
  if (tensor.role != TensorRole::parameter_gradients || parts_.contains(tensor)) return {};
  const auto at = gradients_.find(tensor.layer);
  return at == gradients_.end() ? std::span<const float>() : at->second;
}

const std::vector<StepRecord::Part>& StepRecord::parts(const TensorKey& tensor) const {
  static const std::vector<Part> none;
  const auto at = parts_.find(tensor);
  return at == parts_.end() ? none : at->second;
}

Bytes record_bytes(const Graph& graph, const Plan& plan) {
  std::int64_t values = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Layer& layer = graph[LayerId(i)];
    if (is_input(layer.op)) continue;
    const auto shards = static_cast<std::int64_t>(plan.placement(LayerId(i)).devices.size());
    values += 2 * (plan.rounds() * volume(layer.output) + shards * layer.parameters.total());
  }
  return Bytes{values * static_cast<std::int64_t>(sizeof(float))};
}

}  // namespace strata
