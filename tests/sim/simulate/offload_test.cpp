// An optimizer that hosts keep (ZeRO-Offload), against its formulas: what passes the link between a
// device and its host, what devices no longer hold, and what a step takes.

#include <map>
#include <memory>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/cluster/cpu_cluster.h"
#include "sim/cluster/presets.h"
#include "sim/cost/layer_costs.h"
#include "sim/plan/lower.h"
#include "sim/simulate/simulate.h"
#include "sim/strategy/hybrid.h"
#include "sim/timeline/memory.h"
#include "tests/sim/plan/random_case.h"

namespace strata {
namespace {

constexpr Zero kSharings[] = {Zero::nothing, Zero::state, Zero::gradients, Zero::parameters};

// Every phase 10 ms, updates none.
class SlowKernels : public CostModel {
 public:
  Cost compute(const ShardWork&, Phase phase) const override {
    return {Seconds{phase == Phase::update ? 0 : 0.01}, CostSource::measured};
  }
  Cost move(MoveKind, Bytes) const override { return {}; }
  std::unique_ptr<CostModel> with(const KernelTraits&) const override {
    return std::make_unique<SlowKernels>(*this);
  }
  Bytes memory_capacity() const override { return {std::int64_t{1} << 34}; }
};

// Its parameters can be shared by 2, 4 or 8 devices without a rest, and without gaps.
Graph layers_of_1024(int count, std::int64_t batch) {
  GraphBuilder builder("even", batch);
  LayerId last = builder.add("data", Input{{{1, 1024, 1, 1, 1}}}, {});
  for (int i = 0; i < count; ++i) {
    last = builder.add(fmt::format("fc{}", i), FullyConnected{1024, false}, {last});
  }
  builder.add("loss", SoftmaxCrossEntropy{}, {last});
  return std::move(builder).build();
}

LowerOptions adam_in_bf16(Zero zero, Offload offload) {
  LowerOptions options;
  options.sync = {SyncAlgorithm::ring, Bytes{3'000'000}, zero};
  options.sync.offload = offload;
  options.dtypes = DType::bf16;
  options.optimizer = Optimizer::adam;
  return options;
}

struct Moved {
  std::int64_t to_host = 0, in_memory = 0, to_device = 0;
  bool operator==(const Moved&) const = default;
};

std::vector<Moved> moved_by_hosts(const Plan& plan) {
  std::vector<Moved> moved(plan.device_count());
  for (const Task& task : plan.tasks()) {
    if (task.kind != TaskKind::transfer) continue;
    const Transfer& transfer = plan.transfers()[task.detail];
    if (transfer.host == HostPart::none) continue;
    Moved& own = moved[task.device()];
    const HostPart part = transfer.host;
    (part == HostPart::memory         ? own.in_memory
     : part == HostPart::link_to_host ? own.to_host
                                      : own.to_device) += transfer.bytes.value;
  }
  return moved;
}

Timeline simulated(const Plan& plan, const Graph& graph, const Cluster& cluster,
                   const Strategy& strategy, const Runtime& runtime = {}) {
  static const SlowKernels kCosts;
  const std::vector<const CostModel*> models(cluster.device_count(), &kCosts);
  LayerCosts costs(graph, {.dtypes = DType::bf16, .optimizer = plan.optimizer()});
  return simulate(plan, cluster, task_costs(plan, graph, strategy, costs, models), 4, runtime);
}

std::int64_t bytes_of(const Plan& plan, BufferKind kind) {
  std::int64_t sum = 0;
  for (const Buffer& buffer : plan.buffers()) {
    if (buffer.kind == kind) sum += buffer.bytes.value;
  }
  return sum;
}

// A gradient has 2 bytes, as a parameter; an update reads and writes the parameter in fp32 and two
// numbers beside it, writes its copy in bf16 and reads the gradient: 2 + 2 (2 + 12) bytes.
TEST(Offload, MovesWhatItsFormulasSay) {
  for (const std::int64_t n : {1, 2, 4, 8}) {
    const Graph graph = layers_of_1024(5, n);
    const Cluster cluster = testing::star(static_cast<std::size_t>(n));
    const Strategy strategy = data_parallel(graph, static_cast<int>(n));
    for (const Zero zero : kSharings) {
      const auto plan_of = [&](Offload offload) {
        return lower(graph, cluster, strategy, adam_in_bf16(zero, offload));
      };
      const Plan plan = plan_of(Offload::optimizer), without = plan_of(Offload::nothing);
      const std::int64_t p = graph.parameters() / (zero == Zero::nothing ? 1 : n);
      for (const Moved& moved : moved_by_hosts(plan)) {
        EXPECT_EQ(moved, (Moved{2 * p, 30 * p, 2 * p})) << n << " devices, ZeRO " << name(zero);
      }
      EXPECT_EQ(communication(plan), communication(without));
      EXPECT_EQ(moved_by_hosts(without).front(), Moved{});
    }
  }
}

TEST(Offload, LeavesNoStateOnDevices) {
  for (const std::int64_t n : {1, 4}) {
    const Graph graph = layers_of_1024(5, n);
    const Cluster cluster = testing::star(static_cast<std::size_t>(n));
    const Strategy strategy = data_parallel(graph, static_cast<int>(n));
    for (const Zero zero : kSharings) {
      const std::int64_t p = graph.parameters() / (zero == Zero::nothing ? 1 : n);
      const Plan plan = lower(graph, cluster, strategy, adam_in_bf16(zero, Offload::optimizer));
      const Plan without = lower(graph, cluster, strategy, adam_in_bf16(zero, Offload::nothing));
      EXPECT_EQ(bytes_of(plan, BufferKind::optimizer_state), 0);
      EXPECT_EQ(bytes_of(without, BufferKind::optimizer_state), n * 12 * p);
      for (const BufferKind kind : {BufferKind::parameters, BufferKind::parameter_gradients,
                                    BufferKind::activation, BufferKind::gathered_parameters}) {
        EXPECT_EQ(bytes_of(plan, kind), bytes_of(without, kind)) << name(kind);
      }
      // Gradients of a later bucket may be there while those of an earlier one are on their way.
      const Bytes peak = peak_memory(plan, simulated(plan, graph, cluster, strategy)).front();
      const Bytes before =
          peak_memory(without, simulated(without, graph, cluster, strategy)).front();
      EXPECT_LE(peak.value, before.value - 12 * p + 2 * graph.parameters());
      EXPECT_GE(peak.value, before.value - 12 * p);
    }
  }
}

// Of one layer of M = 2^20 parameters: a forward and one backward kernel of 10 ms (the input wants
// no gradient), with as much for the loss; then 2 M bytes, 30 M and 2 M one after the other.
TEST(Offload, TakesTheLinkAndTheMemoryOfTheHost) {
  const Graph graph = layers_of_1024(1, 1);
  const Cluster cluster = testing::star(1);
  const Strategy strategy = data_parallel(graph, 1);
  const double m = 1 << 20;
  const auto step = [&](Offload offload, const HostUpdates& host) {
    Runtime runtime;
    runtime.host = host;
    return simulated(lower(graph, cluster, strategy, adam_in_bf16(Zero::nothing, offload)), graph,
                     cluster, strategy, runtime)
        .step_seconds()
        .value;
  };
  const HostUpdates host{{{1e9}, 1}, {{10e9}, 1}};
  const double device = step(Offload::nothing, {});
  EXPECT_NEAR(step(Offload::optimizer, host), device + 2 * m / 1e9 + 30 * m / 10e9 + 2 * m / 1e9,
              1e-9);
  const HostUpdates twice{{{1e9}, 2}, {{10e9}, 2}};
  EXPECT_NEAR(step(Offload::optimizer, twice), device + 2 * m / 1e9 + 1.5 * m / 1e9, 1e-9);
  // Of the usual ones, a kind that nobody knows has the slowest link.
  EXPECT_NEAR(step(Offload::optimizer, {}), device + 4 * m / 12.5e9 + 30 * m / 100e9, 1e-9);
}

// All but the last layer of the backward pass go and come while it goes on: 4 layers, each of which
// takes 20 ms of backward pass and 8 + 8 + 8 ms on three parts of the host.
TEST(Offload, OverlapsTheBackwardPass) {
  const Graph graph = layers_of_1024(4, 1);
  const Cluster cluster = testing::star(1);
  const Strategy strategy = data_parallel(graph, 1);
  const double m = 1 << 20;
  Runtime runtime;
  runtime.host = {{{2 * m / 8e-3}, 1}, {{30 * m / 8e-3}, 1}};
  const auto makespan = [&](Offload offload) {
    return simulated(lower(graph, cluster, strategy, adam_in_bf16(Zero::nothing, offload)), graph,
                     cluster, strategy, runtime)
        .step_seconds()
        .value;
  };
  EXPECT_NEAR(makespan(Offload::optimizer), makespan(Offload::nothing) + 3 * 8e-3, 1e-9);
}

// Cores and memory of a host are those of all its devices; each has a link of its own.
TEST(Offload, SharesTheHost) {
  const double m = 1 << 20;
  const auto step = [&](const char* name, Offload offload) {
    const Cluster cluster = preset_cluster(name);
    const auto devices = static_cast<int>(cluster.device_count());
    const Graph graph = layers_of_1024(1, devices);
    const Strategy strategy = data_parallel(graph, devices);
    const Plan plan = lower(graph, cluster, strategy, adam_in_bf16(Zero::nothing, offload));
    return simulated(plan, graph, cluster, strategy).step_seconds().value;
  };
  for (const auto& [cluster, sharing, link] :
       {std::tuple("p100-2x4", 4.0, 12.5e9), std::tuple("p100-8x1", 1.0, 12.5e9),
        std::tuple("a100-1x8", 8.0, 25e9), std::tuple("h100-2x2", 2.0, 50e9)}) {
    EXPECT_NEAR(step(cluster, Offload::optimizer) - step(cluster, Offload::nothing),
                4 * m / link + sharing * 30 * m / 100e9, 1e-9)
        << cluster;
  }
}

TEST(Offload, IsAlikeByClassesAndNot) {
  const Cluster cluster = preset_cluster("a100-2x8");
  const Graph graph =
      build_zoo("gpt:layers=4,hidden=64,heads=8,seq=16,vocab=64", 64).with_batch(64);
  for (const char* sizes : {"tp=1", "tp=2", "tp=4,sp=1", "pp=2", "tp=2,pp=4", "pp=2,vp=2"}) {
    const Strategy strategy = hybrid_parallel(graph, 16, fmt::format("hybrid:{}", sizes));
    for (const Zero zero : kSharings) {
      for (const std::uint32_t rounds : {1U, 4U}) {
        LowerOptions options = adam_in_bf16(zero, Offload::optimizer);
        options.rounds = rounds;
        const Plan all = lower(graph, cluster, strategy, options);
        const Plan few = lower_by_class(graph, cluster, strategy, options);
        ASSERT_LT(few.size(), all.size());
        const Timeline expected = simulated(all, graph, cluster, strategy);
        const Timeline found = simulated(few, graph, cluster, strategy);
        EXPECT_EQ(found.step_seconds(), expected.step_seconds()) << sizes << ", " << name(zero);
        EXPECT_EQ(communication(few), communication(all));
        const std::vector<Bytes> peaks = peak_memory(few, found);
        const std::vector<Bytes> expected_peaks = peak_memory(all, expected);
        for (std::size_t d = 0; d < 16; ++d) {
          EXPECT_EQ(peaks[few.representative(DeviceId(d))()], expected_peaks[d]) << sizes;
        }
      }
    }
  }
}

TEST(Offload, IsNotForServersAndDevicesWithoutAHostMemory) {
  const Graph graph = layers_of_1024(2, 2);
  const Strategy strategy = data_parallel(graph, 2);
  const Cluster star = testing::star(2), cores = cpu_cluster(2);
  LowerOptions options = adam_in_bf16(Zero::nothing, Offload::optimizer);
  EXPECT_NO_THROW(lower(graph, star, strategy, options));
  EXPECT_THROW(lower(graph, cores, strategy, options), InputError);
  options.sync.algorithm = SyncAlgorithm::ps;
  EXPECT_THROW(lower(graph, star, strategy, options), InputError);
}

}  // namespace
}  // namespace strata
