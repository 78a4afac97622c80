#include "exec/calibrate/sweeps.h"

#include <algorithm>

namespace strata {

Sweeps::Sweeps(const Graph& graph, const MeasureList& list) {
  for (const MeasureRequest& request : list.shards) add(graph, request, list);
  plan();
}

void Sweeps::add(const Graph& graph, const MeasureRequest& request, const MeasureList& list) {
  CostKey key =
      cost_key(graph, request.layer, request.output, list.dtype, request.phase, list.optimizer);
  const auto [known, is_new] = asked_.try_emplace({request.layer, key});
  if (!is_new) return places_.push_back(known->second);
  // The phases of one shape run one after another, as in a step. Layers of equal shape are all
  // run, so that a sweep is as long as a step.
  CostKey shape = key;
  shape.phase = Phase::forward, shape.optimizer = Optimizer::sgd;
  const auto [at, fresh] =
      by_shape_.try_emplace(std::pair(request.layer, std::move(shape)), shapes_.size());
  if (fresh) shapes_.push_back({request.layer, request.output, {}, {}});
  Shape& owner = shapes_[at->second];
  known->second = {at->second, owner.keys.size()};
  places_.push_back(known->second);
  owner.phases.push_back(request.phase);
  owner.keys.push_back(std::move(key));
}

std::vector<const CostKey*> Sweeps::keys_of_list() const {
  std::vector<const CostKey*> keys;
  for (const Place& place : places_) keys.push_back(&shapes_[place.shape].keys[place.phase]);
  return keys;
}

void Sweeps::plan() {
  std::map<LayerId, std::vector<std::size_t>> by_layer;
  std::size_t most = 0;
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    auto& list = by_layer[shapes_[i].layer];
    list.push_back(i);
    most = std::max(most, list.size());
  }
  for (std::size_t k = 0; k < most; ++k) {
    Sweep& sweep = all_.emplace_back();
    for (const auto& [layer, list] : by_layer) sweep.push_back(list[k % list.size()]);
  }
}

void Sweeps::cut(const std::function<Bytes(const Shape&)>& held, Bytes most) {
  std::vector<Sweep> stretches;
  for (const Sweep& sweep : all_) {
    Bytes sum;
    stretches.emplace_back();
    for (std::size_t shape : sweep) {
      const Bytes more = held(shapes_[shape]);
      if (!stretches.back().empty() && sum + more > most) stretches.emplace_back(), sum = {};
      stretches.back().push_back(shape);
      sum += more;
    }
  }
  all_ = std::move(stretches);
}

}  // namespace strata
