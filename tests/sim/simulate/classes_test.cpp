// One device of each class, simulated alone, does what each device of the class does among all
// devices: random networks, strategies that know of hosts and ones that do not, clusters with and
// without stragglers, slow and distant links, every way to sum gradients. Times are compared to the
// tick, task by task and device by device, and what follows from them. So are the times of steps
// that repeat the first one with those of all steps simulated.

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../plan/random_case.h"
#include "sim/base/error.h"
#include "sim/cluster/cluster_file.h"
#include "sim/cluster/presets.h"
#include "sim/cluster/what_if.h"
#include "sim/cost/eq1.h"
#include "sim/graph/expert_load.h"
#include "sim/graph/regions.h"
#include "sim/graph/zoo.h"
#include "sim/plan/lower.h"
#include "sim/simulate/simulate.h"
#include "sim/strategy/hybrid.h"
#include "sim/strategy/recomputation.h"
#include "sim/timeline/breakdown.h"
#include "sim/timeline/memory.h"
#include "tests/sanitized.h"

namespace strata {
namespace {

using strata::testing::kSanitized;
using strata::testing::pick;
using strata::testing::Random;

// Few distinct durations, so that ties are common.
class FewCosts : public CostModel {
 public:
  Cost compute(const ShardWork& work, Phase phase) const override {
    const auto size = static_cast<double>(volume(work.output) % 5 + 1);
    return {Seconds{1e-5 * size * (phase == Phase::forward ? 1 : 2)}, CostSource::measured};
  }
  Cost move(MoveKind, Bytes bytes) const override {
    return {Seconds{1e-9 * static_cast<double>(bytes.value)}};
  }
  std::unique_ptr<CostModel> with(const KernelTraits&) const override {
    return std::make_unique<FewCosts>(*this);
  }
  Bytes memory_capacity() const override { return {std::int64_t{1} << 34}; }
};

// Hosts below switches below switches, or racks of hosts, with rails or without.
Cluster random_tree(Random& random, std::int64_t most) {
  const auto count = [&](const char* name, std::int64_t least, std::int64_t most) {
    return fmt::format("[[grid.level]]\nname = \"{}\"\ncount = {}\n", name,
                       pick(random, least, most));
  };
  std::string text = "[grid]\nkind = \"h100\"\n" + count("host", 1, 2);
  if (pick(random, 0, 1) == 0) text += count("rack", 1, 2);
  text += "bandwidth = \"400 GB/s\"\nlatency = \"1 us\"\n" + count("leaf", most, most) +
          "bandwidth = \"50 GB/s\"\nlatency = \"3 us\"\n";
  if (pick(random, 0, 2) == 0) text += "rails = true\n";
  text += count("pod", 2, 2) +
          fmt::format("latency = \"1 us\"\noversubscription = {}\n", pick(random, 1, 4));
  if (pick(random, 0, 1) == 0) text += count("spine", 1, 2);
  return parse_cluster(text, "tree.toml");
}

Cluster random_cluster(Random& random) {
  const std::vector<std::string> names = {
      "p100-4x2", "p100-4x1",     "h200-2x4",     "h200-1x8",     "h200-4x2",
      "p100-2x4", "k80-2x4",      "p100-8x1",     "a100-2x4",     "a100-4x8",
      "h100-2x8", "gb200-2xNVL8", "gb200-1xNVL8", "gb200-4xNVL2", "gb300-2xNVL6"};
  Cluster cluster = pick(random, 0, 3) == 0 ? random_tree(random, pick(random, 2, 3))
                                            : preset_cluster(names[random() % names.size()]);
  const std::string device = cluster.devices()[random() % cluster.device_count()].name;
  const std::string link = cluster.links()[random() % cluster.links().size()].name;
  switch (pick(random, 0, 6)) {
    case 0:  // a straggler
      return apply(cluster, "device." + device + ".speed", "0.5");
    case 1:
      return apply(cluster, "link." + link + ".bandwidth", "0.25x");
    case 2:
      return apply(cluster, "link." + link + ".latency", "1 ms");
    default:
      return cluster;
  }
}

// Hosts take one another's places, in order or with their devices shuffled, too.
void shuffle_hosts(Random& random, const Cluster& cluster, Config& config) {
  std::vector<std::vector<DeviceId>> hosts;
  for (std::size_t d = 0; d < cluster.device_count(); ++d) {
    const bool next =
        d == 0 || cluster.devices()[d].fast_domain() != cluster.devices()[d - 1].fast_domain();
    if (next) hosts.emplace_back();
    hosts.back().emplace_back(d);
  }
  std::shuffle(hosts.begin(), hosts.end(), random);
  std::vector<DeviceId> devices;
  for (std::vector<DeviceId>& host : hosts) {
    if (pick(random, 0, 3) == 0) std::shuffle(host.begin(), host.end(), random);
    devices.insert(devices.end(), host.begin(), host.end());
  }
  devices.resize(config.devices.size());
  config.devices = std::move(devices);
}

// By sample, and copies of each part, of a layer that may have any.
Config copies(Random& random, const Layer& layer, std::size_t devices) {
  Degrees degrees = kWhole;
  degrees.r = static_cast<std::int32_t>(std::size_t{1} << pick(random, 1, 2));
  degrees[Dim::n] = static_cast<std::int32_t>(
      std::min<std::int64_t>(layer.output[Dim::n], static_cast<std::int64_t>(devices) / degrees.r));
  std::vector<Dim> dims;
  for (Dim dim : kDims) {
    if (may_scatter(layer, degrees)[dim]) dims.push_back(dim);
  }
  if (layer.reduction > 1 || is_input(layer.op) || dims.empty() ||
      degrees.r > most_parts_of_sums(layer)) {
    degrees.r = 1;
  } else {
    degrees.scatter = dims[random() % dims.size()];
  }
  return config_on_first_devices(degrees);
}

// By channel within hosts and by sample over them, or the other way round.
Config hybrid(Random& random, const Layer& layer, std::size_t devices) {
  Degrees degrees = kWhole;
  degrees[Dim::c] =
      static_cast<std::int32_t>(pick(random, 1, std::min<std::int64_t>(4, layer.output[Dim::c])));
  degrees[Dim::n] = static_cast<std::int32_t>(std::min<std::int64_t>(
      layer.output[Dim::n], static_cast<std::int64_t>(devices) / degrees[Dim::c]));
  return config_on_first_devices(degrees);
}

// Each layer cut by sample, or in several dims, or copied, or anyhow.
Strategy random_regular_strategy(Random& random, const Graph& graph, const Cluster& cluster) {
  const std::size_t devices = cluster.device_count();
  const Strategy any = testing::random_strategy(random, graph, devices);
  const Strategy data = data_parallel(graph, static_cast<int>(devices));
  const Strategy model = model_parallel(graph, static_cast<int>(devices));
  std::vector<Config> configs;
  const std::int64_t kind = pick(random, 0, 8);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const LayerId layer(i);
    if (kind == 0 || (pick(random, 0, 4) == 0 && is_input(graph[layer].op))) {
      configs.push_back(any[layer]);
    } else if (kind == 1 && pick(random, 0, 4) == 0) {
      configs.push_back(model[layer]);
    } else if ((kind == 2 || kind == 3) && pick(random, 0, 2) == 0) {
      configs.push_back(hybrid(random, graph[layer], devices));
      if (kind == 3) shuffle_hosts(random, cluster, configs.back());
    } else if (kind >= 7 && pick(random, 0, 2) > 0) {
      configs.push_back(copies(random, graph[layer], devices));
    } else {
      configs.push_back(data[layer]);
      if (kind == 4) shuffle_hosts(random, cluster, configs.back());
    }
  }
  return {"random", std::move(configs)};
}

// By sample, by channel, by both and tokens, or anyhow.
Strategy strategy_of_tokens(Random& random, const Graph& graph, const Cluster& cluster) {
  const auto devices = static_cast<int>(cluster.device_count());
  switch (pick(random, 0, 3)) {
    case 0:
      return data_parallel(graph, devices);
    case 1:
      return model_parallel(graph, devices);
    case 2:
      return testing::random_strategy(random, graph, cluster.device_count());
    default:
      break;
  }
  for (const char* sizes :
       {"tp=4,sp=1", "tp=4", "tp=2,sp=1,cp=2", "tp=2,cp=2", "tp=2,cp=2,cp_by=heads", "tp=2,sp=1",
        "tp=2", "cp=4", "cp=4,cp_by=heads", "cp=2"}) {
    if (pick(random, 0, 1) == 0) continue;
    try {
      return hybrid_parallel(graph, devices, std::string("hybrid:") + sizes);
    } catch (const InputError&) {  // too few tokens or heads
    }
  }
  return data_parallel(graph, devices);
}

// What tells a device's tasks apart, but for which other shard a transfer comes from.
using Key = std::tuple<TaskKind, Phase, LayerId>;
using Times = std::multiset<std::tuple<double, double, double>>;
using DeviceTasks = std::map<Key, Times>;

std::map<DeviceId, DeviceTasks> tasks_of(const Plan& plan, const Timeline& timeline) {
  std::map<DeviceId, DeviceTasks> tasks;
  for (std::size_t step = 0; step < timeline.steps(); ++step) {
    for (std::size_t i = 0; i < plan.size(); ++i) {
      const Task& task = plan[TaskId(i)];
      if (task.kind == TaskKind::join) continue;
      const Span& span = timeline.span(step, TaskId(i));
      const std::size_t copies =
          task.kind == TaskKind::transfer ? plan.transfers()[task.detail].copies : 1;
      for (std::size_t k = 0; k < copies; ++k) {
        tasks[task.device][{task.kind, task.phase, task.layer}].insert(
            {span.ready.value, span.start.value, span.end.value});
      }
    }
  }
  return tasks;
}

std::vector<LayerTerms> eq1_terms(const Graph& graph, const Cluster& cluster,
                                  std::span<const CostModel* const> models, SyncAlgorithm sync,
                                  const Strategy& strategy, const DeviceClasses* classes) {
  return Eq1(graph, cluster, models, sync, {}, nullptr, classes).terms(strategy);
}

Seconds waiting(const StepParts& parts) {
  return parts.bubble + parts.exposed.transfer + parts.exposed.reduce + parts.exposed.gather +
         parts.exposed.statistics;
}

/// Of one step alone nothing says which of several that end with it the next one waits for: a wait
/// at its end may be told otherwise, not its length.
enum class Waits : std::uint8_t { alike, told_otherwise };

void expect_equal(const StepParts& a, const StepParts& b, const std::string& note, Waits waits) {
  const double total = a.total().value, exact = 1e-9 * total;
  const double close = waits == Waits::alike ? exact : 1e-5 * total;
  const auto near = [&](Seconds x, Seconds y, double most, const char* what) {
    ASSERT_NEAR(x.value, y.value, most) << note << ", " << what;
  };
  near(a.compute, b.compute, exact, "compute");
  near(a.optimizer, b.optimizer, exact, "optimizer");
  near(a.launch, b.launch, exact, "launch");
  near(waiting(a), waiting(b), exact, "waiting");
  near(a.bubble, b.bubble, close, "bubble");
  near(a.exposed.transfer, b.exposed.transfer, close, "transfer");
  near(a.exposed.reduce, b.exposed.reduce, close, "reduce");
  near(a.exposed.gather, b.exposed.gather, close, "gather");
  near(a.exposed.statistics, b.exposed.statistics, close, "statistics");
}

void expect_equal(const Breakdown& a, const Breakdown& b, const std::string& note,
                  Waits waits = Waits::alike) {
  expect_equal(a.mean, b.mean, note, waits);
  for (std::size_t d = 0; d < a.devices.size(); ++d) {
    expect_equal(a.devices[d], b.devices[d], note, waits);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// Every other case: what replicas share, rounds, and where they update.
void share_some(Random& random, LowerOptions& options) {
  if (options.sync.algorithm == SyncAlgorithm::ps || pick(random, 0, 1) == 0) return;
  options.sync.zero = static_cast<Zero>(pick(random, 1, 3));
  if (pick(random, 0, 1) == 0) options.sync.zero_group = pick(random, 2, 5);
  options.rounds = static_cast<std::uint32_t>(pick(random, 1, 2));
  if (pick(random, 0, 1) == 0) options.sync.offload = Offload::optimizer;
}

// All updates wait for the norm of all gradients, where no parameter server makes them.
void clip_some(std::uint64_t seed, const Cluster& cluster, LowerOptions& options) {
  if (seed % 3 != 0 || options.sync.may_serve()) return;
  options.kernels.assign(cluster.device_count(), {.clips_gradients = true});
}

/// What a plan by classes showed.
struct Seen {
  bool folded = false;    ///< fewer tasks than that of all devices
  bool repeated = false;  ///< all steps repeat the first
};

class Classes : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  // A hybrid of these sizes, where they fit, with drawn options.
  void compare_hybrid(const Graph& graph, const Cluster& cluster, const char* sizes, Random& random,
                      std::uint64_t seed) {
    Strategy strategy;
    try {
      strategy = hybrid_parallel(graph, static_cast<int>(cluster.device_count()),
                                 std::string("hybrid:") + sizes);
    } catch (const InputError&) {  // too few tokens or heads
      return;
    }
    ASSERT_EQ(validate(strategy, graph, cluster), std::vector<std::string>{});
    LowerOptions options;
    options.sync.algorithm = static_cast<SyncAlgorithm>(pick(random, 0, 4));
    if (pick(random, 0, 1) == 0) options.sync.bucket = Bytes{pick(random, 1, 4000)};
    if (pick(random, 0, 2) == 0) options.max_flows_per_edge = 8;
    options.gathers_again = seed % 2 == 0;
    share_some(random, options);
    clip_some(seed, cluster, options);
    if (pick(random, 0, 1) == 0) options.exchanges = Exchanges::collective;
    Seen seen;
    compare(graph, cluster, strategy, options, Overlap::allowed,
            fmt::format("seed {} on {}, {}", seed, cluster.name(), sizes), seen);
    folded_ += seen.folded;
    ++cases_;
  }

  // Compares one of each class with all devices.
  void compare(const Graph& graph, const Cluster& cluster, const Strategy& strategy,
               const LowerOptions& options, const Runtime& runtime, const std::string& note,
               Seen& seen) {
    static const FewCosts kCosts;
    const std::vector<const CostModel*> models(cluster.device_count(), &kCosts);
    const auto costs_of = [&](const Plan& plan) {
      LayerCosts costs(graph, {.dtypes = DType::fp32});
      return task_costs(plan, graph, strategy, costs, models);
    };
    const Plan all = lower(graph, cluster, strategy, options);
    const Plan classes = lower_by_class(graph, cluster, strategy, options);
    seen.folded = classes.classes() != nullptr && classes.size() < all.size();
    // With the rates of the links every step is simulated, even where it repeats the first.
    const Timeline expected = simulate(all, cluster, costs_of(all), 4, runtime, true);
    const Timeline timeline = simulate(classes, cluster, costs_of(classes), 4, runtime);
    const SteadyStep steady = simulate_steady(classes, cluster, costs_of(classes), 4, runtime);
    seen.repeated = steady.timeline.steps() == 1;
    ASSERT_EQ(steady.seconds, expected.step_seconds()) << note;
    ASSERT_EQ(peak_memory(classes, steady.timeline), peak_memory(classes, timeline)) << note;
    ASSERT_EQ(timeline.step_seconds(), expected.step_seconds()) << note;
    ASSERT_EQ(timeline.makespan(), expected.makespan()) << note;
    std::map<DeviceId, DeviceTasks> tasks = tasks_of(classes, timeline);
    std::map<DeviceId, DeviceTasks> expected_tasks = tasks_of(all, expected);
    ASSERT_EQ(communication(classes), communication(all)) << note;
    ASSERT_EQ(
        eq1_terms(graph, cluster, models, options.sync.algorithm, strategy, classes.classes()),
        eq1_terms(graph, cluster, models, options.sync.algorithm, strategy, nullptr))
        << note;
    expect_equal(breakdown(classes, timeline), breakdown(all, expected), note);
    expect_equal(breakdown(classes, steady.timeline), breakdown(all, expected), note + ", steady",
                 Waits::told_otherwise);
    const std::vector<Bytes> peaks = peak_memory(classes, timeline);
    const std::vector<Bytes> expected_peaks = peak_memory(all, expected);
    for (std::size_t d = 0; d < peaks.size(); ++d) {
      ASSERT_TRUE(tasks[classes.representative(DeviceId(d))] == expected_tasks[DeviceId(d)])
          << note << ", device " << d;
      ASSERT_EQ(peaks[classes.representative(DeviceId(d))()], expected_peaks[d])
          << note << ", device " << d;
    }
  }

  std::size_t folded_ = 0, cases_ = 0;  // of hybrids
};

TEST_P(Classes, DoWhatAllDevicesDo) {
  std::size_t folded = 0, repeated = 0;
  for (std::uint64_t seed = GetParam(); seed < GetParam() + 200; ++seed) {
    Random random(seed);
    const Cluster cluster = random_cluster(random);
    const bool tokens = seed % 4 == 0;
    const Graph graph =
        (tokens ? testing::random_transformer(random)
                : testing::random_network(random, pick(random, 3, 9)))
            .with_batch(pick(random, 1, 3) * static_cast<std::int64_t>(cluster.device_count()));
    const Strategy strategy = tokens ? strategy_of_tokens(random, graph, cluster)
                                     : random_regular_strategy(random, graph, cluster);
    ASSERT_EQ(validate(strategy, graph, cluster), std::vector<std::string>{});
    LowerOptions options;
    options.sync.algorithm = static_cast<SyncAlgorithm>(pick(random, 0, 4));
    if (pick(random, 0, 1) == 0) options.sync.bucket = Bytes{pick(random, 1, 4000)};
    options.gathers_again = pick(random, 0, 2) == 0;
    options.max_flows_per_edge = static_cast<std::size_t>(pick(random, 0, 40));
    options.gathers_again = pick(random, 0, 2) == 0;
    Runtime runtime = pick(random, 0, 4) == 0 ? Overlap::none : Overlap::allowed;
    share_some(random, options);
    clip_some(seed, cluster, options);
    if (pick(random, 0, 2) == 0) runtime.communication_share = 0.25;
    Seen seen;
    compare(graph, cluster, strategy, options, runtime,
            fmt::format("seed {} on {}", seed, cluster.name()), seen);
    if (HasFatalFailure()) return;
    folded += seen.folded;
    repeated += seen.repeated;
  }
  EXPECT_GT(folded, 40u) << "few of the cases have classes";
  EXPECT_GT(repeated, 20u) << "few of the cases repeat their first step";
  EXPECT_LT(repeated, 180u) << "few of the cases do not";
}

// Tensor, context and data parallelism, with sequence parallelism and with copies in its place.
TEST_P(Classes, DoWhatAllDevicesDoUnderHybrids) {
  for (std::uint64_t seed = GetParam(); seed < GetParam() + 10; ++seed) {
    Random random(seed);
    const char* const names[] = {"p100-2x4",     "p100-4x4",     "p100-8x4",     "h200-2x8",
                                 "h200-4x4",     "a100-2x4",     "a100-4x8",     "h100-2x8",
                                 "gb200-2xNVL8", "gb200-1xNVL8", "gb200-4xNVL2", "gb300-2xNVL6"};
    const Cluster cluster = pick(random, 0, 3) == 0
                                ? random_tree(random, 4)
                                : preset_cluster(names[random() % std::size(names)]);
    const auto devices = static_cast<int>(cluster.device_count());
    const Graph graph = testing::random_transformer(random).with_batch(devices);
    for (const char* sizes :
         {"tp=2", "tp=4", "tp=2,sp=1", "tp=4,sp=1", "tp=2,cp=2", "tp=2,cp=4", "tp=2,sp=1,cp=2",
          "tp=4,cp=2", "tp=2,cp=2,cp_by=heads", "cp=4,cp_by=heads", "pp=2", "tp=2,sp=1,pp=2",
          "tp=2,pp=4", "pp=2,vp=2"}) {
      compare_hybrid(graph, cluster, sizes, random, seed);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(cases_, 10u) << "few of the hybrids fit";
  EXPECT_GT(folded_, 0u) << "few of the cases have classes";
}

// The same of mixtures, whose experts lie on some or all of the devices that share a layer.
TEST_P(Classes, DoWhatAllDevicesDoInMixtures) {
  for (std::uint64_t seed = GetParam(); seed < GetParam() + 3; ++seed) {
    Random random(seed);
    const char* const names[] = {"p100-2x4", "p100-4x4", "h200-2x8", "h200-4x4", "a100-2x4"};
    const Cluster cluster = preset_cluster(names[random() % std::size(names)]);
    const char* const groups[] = {"", ",groups=2,topk_groups=1", ",groups=4,topk_groups=2"};
    Graph graph = build_zoo(
        fmt::format("llama:layers=2,hidden=8,heads=4,ffn=6,seq=8,vocab=8,experts=8,shared_ffn=4{}",
                    groups[random() % std::size(groups)]),
        static_cast<std::int64_t>(cluster.device_count()));
    graph = with_routing(graph, [by = random() % kTokenDispatchNames.size()](ExpertRouting& r) {
      r.dispatch = static_cast<TokenDispatch>(by);
    });
    if (random() % 2 == 0) graph = with_expert_load(graph, ZipfLoad{0.8});
    for (const char* sizes : {"ep=2", "ep=4", "ep=8", "tp=2,sp=1,ep=2,etp=1", "tp=2,ep=4,etp=1",
                              "tp=2,sp=1,ep=4", "cp=2,ep=4", "ep=2,pp=2"}) {
      compare_hybrid(graph, cluster, sizes, random, seed);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(cases_, 10u) << "few of the hybrids fit";
  EXPECT_GT(folded_, 0u) << "few of the cases have classes";
}

// Hosts of which each device has its own links to a switch and to the network: devices of one host
// are alike, too.
TEST_P(Classes, DoWhatAllDevicesDoInHostsOnASwitch) {
  std::size_t folded = 0;
  constexpr std::uint64_t kCases = testing::kRelease ? 4 : 2;
  for (std::uint64_t seed = GetParam(); seed < GetParam() + kCases; ++seed) {
    Random random(seed);
    const char* const names[] = {"a100-2x4", "a100-4x8", "h100-2x8", "a100-4x2"};
    Cluster cluster = preset_cluster(names[random() % std::size(names)]);
    const auto devices = static_cast<int>(cluster.device_count());
    if (const std::int64_t slow = pick(random, 0, 9); slow < 2) {
      const std::string which =
          slow == 0 ? "*" : cluster.devices()[random() % cluster.device_count()].name;
      cluster = apply(cluster, "device." + which + ".speed", "0.5");
    }
    const Graph graph =
        pick(random, 0, 2) == 0
            ? testing::random_transformer(random).with_batch(devices)
            : build_zoo(fmt::format("{}:layers={},hidden=16,heads=8,ffn={},seq={},vocab={}",
                                    pick(random, 0, 1) == 0 ? "gpt" : "bert", pick(random, 1, 4),
                                    pick(random, 8, 17), pick(random, 4, 8), pick(random, 8, 17)),
                        devices);
    std::vector<Strategy> strategies = {
        data_parallel(graph, devices), model_parallel(graph, devices),
        testing::random_strategy(random, graph, cluster.device_count())};
    for (const char* sizes : {"tp=2", "tp=4", "tp=8", "tp=2,sp=1", "tp=4,sp=1", "tp=8,sp=1",
                              "tp=2,cp=2", "tp=4,cp=2", "tp=2,cp=4,cp_by=heads", "tp=2,pp=2",
                              "tp=4,pp=2", "tp=8,pp=2", "tp=4,sp=1,pp=2", "tp=2,pp=4"}) {
      try {
        strategies.push_back(hybrid_parallel(graph, devices, std::string("hybrid:") + sizes));
      } catch (const InputError&) {  // too few tokens or heads
      }
    }
    for (Strategy& strategy : strategies) {
      ASSERT_EQ(validate(strategy, graph, cluster), std::vector<std::string>{});
      const auto recompute = static_cast<Recompute>(pick(random, 0, 4) % 3);
      strategy = strategy.with(segments(graph, recompute, {}));
      LowerOptions options;
      options.sync.algorithm = static_cast<SyncAlgorithm>(pick(random, 0, 4));
      if (pick(random, 0, 1) == 0) options.sync.bucket = Bytes{pick(random, 1, 4000)};
      if (pick(random, 0, 3) == 0) options.max_flows_per_edge = 8;
      options.rounds = static_cast<std::uint32_t>(pick(random, 1, 3));
      options.gathers_again = pick(random, 0, 2) == 0;
      share_some(random, options);
      clip_some(seed, cluster, options);
      Runtime runtime = pick(random, 0, 4) == 0 ? Overlap::none : Overlap::allowed;
      if (pick(random, 0, 2) == 0) runtime.communication_share = 0.25;
      Seen seen;
      compare(graph, cluster, strategy, options, runtime,
              fmt::format("seed {} on {}, {}, {} rounds", seed, cluster.name(), strategy.name(),
                          options.rounds),
              seen);
      if (HasFatalFailure()) return;
      folded += seen.folded;
    }
  }
  EXPECT_GT(folded, kCases / 2) << "few of the cases have classes";
}

constexpr std::uint64_t kSeeds = kSanitized ? 400 : 2000;
INSTANTIATE_TEST_SUITE_P(Seeds, Classes, ::testing::Range<std::uint64_t>(0, kSeeds, 200));

}  // namespace
}  // namespace strata
