// Uniform pipelines beside the formulas of their schedules, in whole picoseconds: equal stages,
// nothing that moves takes time.

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/cluster/cluster_file.h"
#include "sim/plan/lower.h"
#include "sim/simulate/simulate.h"
#include "sim/strategy/stages.h"
#include "sim/timeline/memory.h"

namespace strata {
namespace {

/// Picoseconds of a chunk in one round.
struct Passes {
  std::int64_t forward, inputs, weights;
  std::int64_t all() const { return forward + inputs + weights; }
};

Cluster free_links(std::int64_t devices) {
  std::string toml = "name = \"star\"\n[[switch]]\nname = \"hub\"\n";
  for (std::int64_t i = 0; i < devices; ++i) {
    toml += fmt::format(
        "[[device]]\nname = \"d{0}\"\nkind = \"p100\"\nhost = \"h\"\n[[link]]\nfrom = \"d{0}\"\n"
        "to = \"hub\"\nbandwidth = \"1000000 GB/s\"\nlatency = \"0 s\"\nduplex = true\n",
        i);
  }
  return parse_cluster(toml, "star.toml");
}

/// data -> stem -> l0 -> l1 ... -> loss: the stem, which needs no gradient of its input, and the
/// loss are free.
Graph chain_of_layers(std::int64_t layers) {
  GraphBuilder builder("chain", 1);
  LayerId at = builder.add("data", Input{{{1, 1, 1, 1, 1}}}, {});
  at = builder.add("stem", FullyConnected{1, false}, {at});
  for (std::int64_t k = 0; k < layers; ++k) {
    at = builder.add(fmt::format("l{}", k), FullyConnected{1, false}, {at});
  }
  builder.add("loss", SoftmaxCrossEntropy{}, {at});
  return std::move(builder).build();
}

Strategy placed(const Graph& graph, std::int64_t stages, std::int64_t chunks, bool v) {
  const auto on = [](std::int64_t device) {
    return Config{kWhole, std::vector{DeviceId(static_cast<std::size_t>(device))}};
  };
  const auto stage = [&](std::int64_t k) {
    return v && k >= stages ? 2 * stages - 1 - k : k % stages;
  };
  std::vector<Config> configs = {on(0), on(0)};
  for (std::int64_t k = 0; k < chunks; ++k) configs.push_back(on(stage(k)));
  configs.push_back(on(stage(chunks - 1)));
  EXPECT_EQ(configs.size(), graph.size());
  return {"stages", std::move(configs)};
}

struct PipelineStep {
  std::int64_t step = 0;           ///< ps
  std::vector<std::int64_t> kept;  ///< by device: rounds whose outputs are there at once, at most
};

PipelineStep simulated(std::int64_t p, std::int64_t per_stage, ScheduleKind kind,
                       std::int64_t rounds, const Passes& passes) {
  const Graph graph = chain_of_layers(p * per_stage);
  const Cluster cluster = free_links(p);
  const Strategy strategy = placed(graph, p, p * per_stage, kind == ScheduleKind::zb_v);
  LowerOptions options;
  options.rounds = static_cast<std::uint32_t>(rounds);
  options.schedule.kind = kind;
  const Plan plan = lower(graph, cluster, strategy, options);
  std::vector<Cost> costs(plan.size());
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const Task& task = plan[TaskId(i)];
    if (task.kind != TaskKind::compute || !graph[task.layer].name.starts_with("l")) continue;
    if (is_loss(graph[task.layer].op)) continue;
    const std::int64_t time = task.phase == Phase::forward            ? passes.forward
                              : task.phase == Phase::backward_data    ? passes.inputs
                              : task.phase == Phase::backward_weights ? passes.weights
                                                                      : 0;
    costs[i].seconds = Seconds{static_cast<double>(time) * 1e-12};
  }
  const Timeline timeline = simulate(plan, cluster, costs, 3);
  PipelineStep outcome;
  outcome.step = std::llround(timeline.step_seconds().value * 1e12);
  for (std::int64_t d = 0; d < p; ++d) {
    // From the start of its forward pass to the end of its backward one.
    std::vector<std::pair<double, int>> changes;
    for (std::size_t i = 0; i < plan.size(); ++i) {
      const Task& task = plan[TaskId(i)];
      const bool counted = task.kind == TaskKind::compute && costs[i].seconds.value > 0 &&
                           static_cast<std::int64_t>(task.device()) == d;
      if (!counted) continue;
      const Span& span = timeline.span(0, TaskId(i));
      if (task.phase == Phase::forward) changes.emplace_back(span.start.value, 1);
      if (task.phase == Phase::backward_data) changes.emplace_back(span.end.value, -1);
    }
    std::sort(changes.begin(), changes.end());
    std::int64_t now = 0, most = 0;
    for (const auto& [at, change] : changes) most = std::max(most, now += change);
    outcome.kept.push_back(most);
  }
  return outcome;
}

// The formulas know a backward pass as one; here gradients of inputs go on their way before those
// of the chunk's first parameters are there.
constexpr Passes kUneven{3000, 6000, 0}, kEven{1000, 1000, 1000};

TEST(Pipeline, GPipeAnd1F1BAndInterleavedTakeTheTimesOfTheFormulas) {
  for (const std::int64_t p : {2, 3, 4, 7, 8, 16}) {
    for (const std::int64_t m : {1, 2, 3, 5, 8, 16, 31, 64}) {
      SCOPED_TRACE(fmt::format("p {} m {}", p, m));
      const std::int64_t time = (m + p - 1) * kUneven.all();
      EXPECT_EQ(simulated(p, 1, ScheduleKind::gpipe, m, kUneven).step, time);
      const PipelineStep found = simulated(p, 1, ScheduleKind::one_f_one_b, m, kUneven);
      EXPECT_EQ(found.step, time);
      for (std::int64_t i = 0; i < p; ++i) {
        EXPECT_EQ(found.kept[static_cast<std::size_t>(i)], std::min(m, p - i));
      }
      for (const std::int64_t v : {2, 3}) {
        if (m % p != 0) continue;
        EXPECT_EQ(simulated(p, v, ScheduleKind::interleaved, m, kUneven).step,
                  (v * m + p - 1) * kUneven.all());
      }
    }
  }
}

TEST(Pipeline, ZeroBubbleSchedulesFillTheWait) {
  for (const std::int64_t p : {2, 3, 4, 7, 8, 16}) {
    for (const std::int64_t m : {16, 31, 64}) {
      SCOPED_TRACE(fmt::format("p {} m {}", p, m));
      EXPECT_EQ(simulated(p, 1, ScheduleKind::zb_h1, m, kEven).step,
                m * kEven.all() + (p - 1) * kEven.forward);
      // Two chunks a stage, no idle time: the next step begins where this one drains.
      if (m < 2 * p - 1) continue;
      EXPECT_EQ(simulated(p, 2, ScheduleKind::zb_v, m, kEven).step, 2 * m * kEven.all());
    }
  }
}

}  // namespace
}  // namespace strata
