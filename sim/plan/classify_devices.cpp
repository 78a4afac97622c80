#include "sim/plan/classify_devices.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "sim/plan/device_behaviour.h"

namespace strata {
namespace {

// Who copies for itself does one thing after another, in an order that classes do not keep.
bool all_have_copy_engines(const Cluster& cluster) {
  return std::none_of(cluster.devices().begin(), cluster.devices().end(),
                      [](const Device& device) { return device.puts_together(); });
}

}  // namespace

DeviceClasses find_device_classes(const Graph& graph, const Cluster& cluster,
                                  const Strategy& strategy, const Step& step,
                                  const LowerOptions& options,
                                  std::span<const std::uint32_t> cost_models, LoweringMemo& memo) {
  DeviceClasses trivial(cluster.device_count());
  if (!all_have_copy_engines(cluster)) return trivial;
  const std::shared_ptr<const DomainSymmetry> domains = cluster.symmetry();
  if (!domains->holds()) return trivial;
  std::vector<Bits> alone(cluster.device_count());
  for (std::size_t d = 0; d < cost_models.size(); ++d) alone[d] = mixed(cost_models[d]);
  const auto behaviour = device_behaviour(
      {graph, strategy, step, options.sync, *domains, memo.sync_costs(),
       options.exchanges == Exchanges::collective ? &memo : nullptr, options.cancelled},
      std::move(alone));
  if (!behaviour) return trivial;
  for (const bool exchange : {true, false}) {
    DeviceClasses classes(domains, refined_colours(*behaviour, *domains, exchange));
    const bool alike = classes.representatives().size() < cluster.device_count();
    if (alike && keeps_groups(*behaviour, classes)) return classes;
  }
  return trivial;
}

}  // namespace strata
