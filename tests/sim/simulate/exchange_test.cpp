// What a library does as one collective: its time by the formulas of a ring, on several fabrics.

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/cluster/cluster_file.h"
#include "sim/cluster/presets.h"
#include "sim/plan/lower.h"
#include "sim/simulate/simulate.h"

namespace strata {
namespace {

constexpr std::int64_t kBatch = 64, kChannels = 1024;

// data -> a (cut in c) -> b (cut in r) -> loss on device 0.
Graph two_products() {
  GraphBuilder builder("two", kBatch);
  const LayerId data = builder.add("data", Input{{{1, kChannels, 1, 1, 1}}}, {});
  const LayerId a = builder.add("a", FullyConnected{kChannels, false}, {data});
  const LayerId b = builder.add("b", FullyConnected{kChannels, false}, {a});
  builder.add("loss", SoftmaxCrossEntropy{}, {b});
  return std::move(builder).build();
}

// data -> a (cut in c) -> b (cut in r) -> c (cut in c) -> loss: every device reads all sums of b.
Graph three_products() {
  GraphBuilder builder("three", kBatch);
  LayerId last = builder.add("data", Input{{{1, kChannels, 1, 1, 1}}}, {});
  for (const char* name : {"a", "b", "c"}) {
    last = builder.add(name, FullyConnected{kChannels, false}, {last});
  }
  builder.add("loss", SoftmaxCrossEntropy{}, {last});
  return std::move(builder).build();
}

class Free : public CostModel {
 public:
  Cost compute(const ShardWork&, Phase) const override { return {}; }
  Cost move(MoveKind, Bytes) const override { return {}; }
  std::unique_ptr<CostModel> with(const KernelTraits&) const override {
    return std::make_unique<Free>(*this);
  }
  Bytes memory_capacity() const override { return {std::int64_t{1} << 34}; }
};

// All devices of the cluster divide the sums of b, and own its output in parts of channels.
Strategy row_parallel(const Graph& graph, const Cluster& cluster) {
  const auto devices = static_cast<std::int32_t>(cluster.device_count());
  Degrees columns = kWhole, rows = kWhole, samples = kWhole;
  columns[Dim::c] = rows.r = samples[Dim::n] = devices;
  rows.scatter = Dim::c;
  std::vector<DeviceId> all;
  for (std::size_t d = 0; d < cluster.device_count(); ++d) all.emplace_back(d);
  const ShardDevices on(all);
  std::vector<Config> configs;
  for (const Layer& layer : graph.layers()) {
    const Degrees& degrees = layer.name == "a" || layer.name == "c" ? columns
                             : layer.name == "b"                    ? rows
                                                                    : samples;
    configs.push_back({degrees, on});
  }
  return Strategy("rows", std::move(configs));
}

struct Simulated {
  Plan plan;
  Timeline timeline;
};

Simulated simulated(const Cluster& cluster, Exchanges exchanges,
                    const Graph& graph = two_products()) {
  const Strategy strategy = row_parallel(graph, cluster);
  LowerOptions options;
  options.exchanges = exchanges;
  Plan plan = lower(graph, cluster, strategy, options);
  static const Free kFree;
  const std::vector<const CostModel*> models(cluster.device_count(), &kFree);
  LayerCosts layer_costs(graph, {.dtypes = DType::fp32});
  const auto costs = task_costs(plan, graph, strategy, layer_costs, models);
  Timeline timeline = simulate(plan, cluster, costs, 1);
  return {std::move(plan), std::move(timeline)};
}

// Of the layer's sums in the forward pass.
Seconds duration_of_sums(const Simulated& r) {
  for (std::size_t i = 0; i < r.plan.size(); ++i) {
    const Task& task = r.plan[TaskId(i)];
    if (task.kind == TaskKind::transfer && task.phase == Phase::forward_sum) {
      return r.timeline.span(0, TaskId(i)).duration();
    }
  }
  return {};
}

// `devices` on one switch.
Cluster star(std::size_t devices, const std::string& bandwidth) {
  std::string toml = "name = \"star\"\n[[switch]]\nname = \"hub\"\n";
  for (std::size_t i = 0; i < devices; ++i) {
    toml += fmt::format(
        "[[device]]\nname = \"d{0}\"\nkind = \"p100\"\nhost = \"h\"\n"
        "[[link]]\nfrom = \"d{0}\"\nto = \"hub\"\nbandwidth = \"{1}\"\nlatency = \"0 s\"\n"
        "duplex = true\n",
        i, bandwidth);
  }
  return parse_cluster(toml, "star.toml");
}

// `hosts` of `devices`, each host behind one card.
Cluster hosts_with_a_card(std::size_t hosts, std::size_t devices) {
  std::string toml = "name = \"cards\"\n[[switch]]\nname = \"net\"\n";
  for (std::size_t h = 0; h < hosts; ++h) {
    toml += fmt::format(
        "[[switch]]\nname = \"s{0}\"\n[[link]]\nfrom = \"s{0}\"\nto = \"net\"\n"
        "bandwidth = \"1 GB/s\"\nlatency = \"0 s\"\nduplex = true\n",
        h);
    for (std::size_t d = 0; d < devices; ++d) {
      toml += fmt::format(
          "[[device]]\nname = \"d{0}_{1}\"\nkind = \"p100\"\nhost = \"h{0}\"\n"
          "[[link]]\nfrom = \"d{0}_{1}\"\nto = \"s{0}\"\nbandwidth = \"10 GB/s\"\n"
          "latency = \"0 s\"\nduplex = true\n",
          h, d);
    }
  }
  return parse_cluster(toml, "cards.toml");
}

constexpr double kBytes = 4.0 * kBatch * kChannels;  // of b's output

// A reduce-scatter of B bytes over T devices takes (T - 1) / T B over each hop of its ring.
TEST(Exchange, AReduceScatterInAHostTakesItsFormula) {
  for (const std::size_t devices : {2, 4, 8}) {
    const auto r = simulated(star(devices, "10 GB/s"), Exchanges::collective);
    const auto t = static_cast<double>(devices);
    EXPECT_NEAR(duration_of_sums(r).value, (t - 1) / t * kBytes / 10e9, 1e-11) << devices;
  }
}

// Over hosts the ring crosses each card once in each direction; pair by pair, what each device gets
// from those of other hosts comes over its host's card.
TEST(Exchange, AReduceScatterOverHostsCrossesEachCardOnce) {
  const Cluster cluster = hosts_with_a_card(2, 4);
  const double t = 8;
  EXPECT_NEAR(duration_of_sums(simulated(cluster, Exchanges::collective)).value,
              (t - 1) / t * kBytes / 1e9, 1e-11);
  const auto pairs = simulated(cluster, Exchanges::pairwise);
  EXPECT_TRUE(pairs.plan.exchanges().empty());
  EXPECT_GT(pairs.timeline.makespan(),
            simulated(cluster, Exchanges::collective).timeline.makespan());
}

TEST(Exchange, OneCollectiveHasAllTransfersOfAGroup) {
  const auto r = simulated(star(4, "10 GB/s"), Exchanges::collective);
  ASSERT_FALSE(r.plan.exchanges().empty());
  for (std::size_t i = 0; i < r.plan.size(); ++i) {
    const Exchange* exchange = r.plan.exchange_of(r.plan[TaskId(i)]);
    if (exchange == nullptr) continue;
    const Span &own = r.timeline.span(0, TaskId(i)), &first = r.timeline.span(0, exchange->first);
    EXPECT_EQ(own.start, first.start);
    EXPECT_EQ(own.end, first.end);
    EXPECT_THAT(r.plan.group_shapes()[exchange->shape].devices, ::testing::SizeIs(4));
  }
}

// Of a sum that all devices fetch, the reduce-scatter and the all-gather are one all-reduce, with
// one latency of the library; of a sum whose parts go elsewhere, each has its own.
TEST(Exchange, SumsThatAllFetchAreOneAllReduce) {
  const Cluster cluster = preset_cluster("a100-1x4");
  ASSERT_FALSE(cluster.communication_library().protocols.empty());
  const auto parts = simulated(cluster, Exchanges::collective),
             whole = simulated(cluster, Exchanges::collective, three_products());
  int fetched = 0;
  for (std::size_t i = 0; i < whole.plan.size(); ++i) {
    const Task& task = whole.plan[TaskId(i)];
    const Exchange* exchange = whole.plan.exchange_of(task);
    if (exchange == nullptr || task.phase != Phase::forward || task.layer != LayerId(3)) continue;
    EXPECT_EQ(exchange->work, GroupWork::all_gather);
    EXPECT_TRUE(exchange->fused);
    ++fetched;
  }
  EXPECT_EQ(fetched, 4 * 3);
  for (const Exchange& exchange : parts.plan.exchanges()) EXPECT_FALSE(exchange.fused);
  Seconds latency;
  for (const Exchange& exchange : parts.plan.exchanges()) {
    if (exchange.work != GroupWork::reduce_scatter) continue;
    for (const auto& phase : parts.plan.group_shapes()[exchange.shape].phases)
      latency += phase.latency;
    break;
  }
  EXPECT_GT(latency, Seconds{});
  EXPECT_NEAR((duration_of_sums(parts) - duration_of_sums(whole)).value, 0.5 * latency.value,
              1e-11);
}

// Sums of two are fetched by four, and those of four by two: no library does either as one, whether
// a device of each class or all are looked at.
TEST(Exchange, SumsThatOthersFetchToo) {
  const Cluster cluster = preset_cluster("a100-1x4");
  const Graph graph = three_products();
  const auto cut = [](std::int32_t n, std::int32_t c, std::int32_t r) {
    Degrees degrees = kWhole;
    degrees[Dim::n] = n;
    degrees[Dim::c] = c;
    degrees.r = r;
    return config_on_first_devices(degrees);
  };
  const std::vector<Config> of_two = {cut(4, 1, 1), cut(2, 2, 1), cut(2, 1, 2), cut(1, 4, 1),
                                      cut(4, 1, 1)},
                            of_four = {cut(4, 1, 1), cut(1, 4, 1), cut(1, 1, 4), cut(1, 2, 2),
                                       cut(4, 1, 1)};
  LowerOptions options;
  options.exchanges = Exchanges::collective;
  for (const auto& configs : {of_two, of_four}) {
    const Strategy strategy("others", configs);
    const Plan all = lower(graph, cluster, strategy, options),
               classes = lower_by_class(graph, cluster, strategy, options);
    for (const Plan* plan : {&all, &classes}) {
      EXPECT_FALSE(plan->exchanges().empty());
      for (const Exchange& exchange : plan->exchanges()) EXPECT_FALSE(exchange.fused);
    }
  }
}

// data -> before (cut in n) -> a (cut in c) -> loss (cut in n).
Graph one_activation() {
  GraphBuilder builder("other", kBatch);
  LayerId last = builder.add("data", Input{{{1, kChannels, 1, 1, 1}}}, {});
  last = builder.add("before", FullyConnected{kChannels, false}, {last});
  last = builder.add("a", Activation{}, {last});
  builder.add("loss", SoftmaxCrossEntropy{}, {last});
  return std::move(builder).build();
}

// Of B bytes each of T devices sends 1 / T^2 to every other: over its own link T - 1 of these, over
// the card of one of two hosts (T / 2)^2.
TEST(Exchange, CutsATensorOtherwiseByAnAllToAll) {
  const auto duration = [](const Cluster& cluster) {
    const auto r = simulated(cluster, Exchanges::collective, one_activation());
    Seconds forward;
    for (std::size_t i = 0; i < r.plan.size(); ++i) {
      const Exchange* exchange = r.plan.exchange_of(r.plan[TaskId(i)]);
      if (r.plan[TaskId(i)].kind != TaskKind::transfer) continue;
      EXPECT_TRUE(exchange != nullptr && exchange->work == GroupWork::all_to_all);
      if (r.plan[TaskId(i)].layer == LayerId(2) && r.plan[TaskId(i)].phase == Phase::forward) {
        forward = r.timeline.span(0, TaskId(i)).duration();
      }
    }
    return forward.value;
  };
  for (const std::size_t devices : {2, 4, 8}) {
    const auto t = static_cast<double>(devices);
    EXPECT_NEAR(duration(star(devices, "10 GB/s")), (t - 1) / (t * t) * kBytes / 10e9, 1e-11);
  }
  EXPECT_NEAR(duration(hosts_with_a_card(2, 4)), 16.0 / 64 * kBytes / 1e9, 1e-11);
}

// Bytes and boxes are the same: only how they move differs.
TEST(Exchange, MovesWhatPairsMove) {
  const Cluster cluster = hosts_with_a_card(2, 2);
  const auto pairs = simulated(cluster, Exchanges::pairwise),
             groups = simulated(cluster, Exchanges::collective);
  EXPECT_EQ(communication(pairs.plan), communication(groups.plan));
  EXPECT_EQ(pairs.plan.size(), groups.plan.size());
}

// Parts of a cut that is uneven, and what goes to devices that have none, move pair by pair.
TEST(ExchangeGroups, LeaveOutWhatNoLibraryDoes) {
  const std::vector<DeviceId> devices = {DeviceId(0), DeviceId(1), DeviceId(2)};
  const Box all = {};
  EdgeReads reads;
  reads.boxes = {{all}};
  reads.owners = {{{0, 100}, {1, 100}, {2, 100}}};
  reads.readers = {{0, 1, 2}};
  ASSERT_EQ(exchange_groups(reads, devices, devices).groups.size(), 1U);
  EXPECT_EQ(exchange_groups(reads, devices, devices).groups.front().elements, 300);
  reads.readers = {{0, 1}};
  EXPECT_TRUE(exchange_groups(reads, devices, devices).groups.empty());
  reads.readers = {{0, 1, 2}};
  reads.owners = {{{0, 100}, {1, 100}, {2, 50}}};
  EXPECT_TRUE(exchange_groups(reads, devices, devices).groups.empty());
}

// Each of two devices needs a half of its own part and of the other's; a halo is no such half.
TEST(ExchangeGroups, TellWhatIsCutOtherwise) {
  const std::vector<DeviceId> devices = {DeviceId(0), DeviceId(1)};
  Box first = whole({{8, 8, 1, 1, 1}}), second = first;
  first[Dim::c] = {0, 4}, second[Dim::c] = {4, 8};
  EdgeReads reads;
  reads.boxes = {{first}, {second}};
  reads.owners = {{{0, 16}, {1, 16}}, {{0, 16}, {1, 16}}};
  reads.readers = {{0}, {1}};
  const ExchangeGroups found = exchange_groups(reads, devices, devices);
  ASSERT_EQ(found.groups.size(), 1U);
  EXPECT_TRUE(found.groups.front().cut_otherwise);
  EXPECT_EQ(found.groups.front().elements, 64);
  reads.owners = {{{0, 32}, {1, 8}}, {{0, 8}, {1, 32}}};
  EXPECT_TRUE(exchange_groups(reads, devices, devices).groups.empty());
}

}  // namespace
}  // namespace strata
