#include "sim/plan/expansion.h"

#include <algorithm>
#include <variant>

#include "sim/base/cancel.h"
#include "sim/plan/classify_devices.h"
#include "sim/step/shard_groups.h"
#include "sim/strategy/recomputation.h"

namespace strata {
namespace {

void begin_round(Expansion& to, std::uint32_t number) {
  std::unique_ptr<Round>& begun = to.rounds[number];
  if (begun) return;
  begun = std::make_unique<Round>(to.graph.size());
  for (std::size_t i = 0; i < to.graph.size(); ++i) {
    begun->delivered[i].resize(to.shards.of(LayerId(i)).size());
  }
  begun->gradients.resize(to.shared.size());
}

void expand(Expansion& to, const Action& action) {
  throw_if_cancelled(to.options.cancelled);
  if (to.builder.so_far().size() > to.options.most_tasks) throw TooManyTasks{};
  to.builder.recompute(action.again_for.valid());
  std::visit([&](const auto& work) { expand(to, action, work); }, action.work);
}

void expand_instances(Expansion& to) {
  const Step& step = to.step;
  const auto actions = std::span(step.actions);
  for (std::size_t k = 0; k < step.instances.size(); ++k) {
    const StepInstance& at = step.instances[k];
    // Half of the instances are backward passes, which have more.
    if (k > 0 && k == step.instances.size() / 4 && step.rounds > 4) to.builder.expect(5);
    to.builder.begin_instance(at.instance.round, step.in_turn, at.instance.beside);
    begin_round(to, at.instance.round);
    for (const Action& action : actions.subspan(at.first, at.last - at.first)) expand(to, action);
    if (at.ends_round) to.rounds[at.instance.round].reset();
  }
  for (const Action& action : actions.subspan(step.end)) expand(to, action);
}

Plan expand_all(Expansion& to) {
  place_buckets(to);
  plan_openings(to);
  expand_instances(to);
  std::vector<Placement> placements;
  for (const Config& config : to.strategy.configs()) {
    placements.push_back({config.degrees, config.devices});
  }
  to.builder.place(std::move(placements));
  return std::move(to.builder).build();
}

}  // namespace

Expansion::Expansion(const Graph& graph_of, const Cluster& cluster_of, const Strategy& strategy_of,
                     const LowerOptions& options_of, const Step& step_of, LoweringMemo& memo_of,
                     std::shared_ptr<const DeviceClasses> classes_of)
    : graph(graph_of),
      cluster(cluster_of),
      strategy(strategy_of),
      options(options_of),
      step(step_of),
      memo(memo_of),
      classes(std::move(classes_of)),
      builder(options.dtypes.values, cluster.device_count(), step.rounds),
      shards(graph, strategy, step, classes.get()),
      ordinals(parameter_ordinals(graph)),
      parameters(graph.size()),
      rounds(step.rounds),
      last_sync(cluster.device_count()),
      normed(cluster.device_count()),
      summed(step.buckets.size()),
      by_rounds(graph.size()),
      in_place(graph.size()),
      output_is_read(graph.size()) {
  builder.update_by(options.optimizer);
  builder.merge_products(step.products);
  for (std::size_t d = 0; d < cluster.device_count(); ++d) {
    if (cluster[DeviceId(d)].puts_together()) builder.assemble(DeviceId(d));
  }
  if (std::ranges::any_of(options.kernels, &KernelTraits::zeroes_gradients)) {
    builder.keep_gradients();
  }
  if (classes) builder.lower_classes(classes);
}

StepOptions step_options(const LowerOptions& options) {
  return {options.sync,
          element_bytes(options.dtypes.gradients),
          keeping_most(options.kernels),
          options.gathers_again,
          options.rounds,
          options.schedule,
          options.products};
}

Plan lower(const Graph& graph, const Cluster& cluster, const Strategy& strategy,
           const LowerOptions& options) {
  return lower(graph, cluster, strategy, make_step(graph, strategy, step_options(options)),
               options);
}

Plan lower(const Graph& graph, const Cluster& cluster, const Strategy& strategy, const Step& step,
           const LowerOptions& options) {
  LoweringMemo own(graph, cluster);
  LoweringMemo& memo = options.memo != nullptr ? *options.memo : own;
  Expansion to(graph, cluster, strategy, options, step, memo, nullptr);
  return expand_all(to);
}

Plan lower_by_class(const Graph& graph, const Cluster& cluster, const Strategy& strategy,
                    const LowerOptions& options, std::span<const std::uint32_t> cost_models) {
  return lower_by_class(graph, cluster, strategy, make_step(graph, strategy, step_options(options)),
                        options, cost_models);
}

Plan lower_by_class(const Graph& graph, const Cluster& cluster, const Strategy& strategy,
                    const Step& step, const LowerOptions& options,
                    std::span<const std::uint32_t> cost_models) {
  LoweringMemo own(graph, cluster);
  LoweringMemo& memo = options.memo != nullptr ? *options.memo : own;
  DeviceClasses found =
      find_device_classes(graph, cluster, strategy, step, options, cost_models, memo);
  std::shared_ptr<const DeviceClasses> classes;
  if (!found.is_trivial()) classes = memo.classes(std::move(found));
  Expansion to(graph, cluster, strategy, options, step, memo, std::move(classes));
  return expand_all(to);
}

}  // namespace strata
