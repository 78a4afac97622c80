// comm_bytes against a count element by element, straight from the definitions of the ops.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "counted_communication.h"
#include "random_case.h"
#include "sim/graph/zoo.h"
#include "sim/plan/lower.h"
#include "sim/step/shared_readings.h"
#include "sim/strategy/hybrid.h"
#include "sim/strategy/stages.h"
#include "tests/sanitized.h"

namespace strata {
namespace {

using testing::Random;
void expect_counts(const Graph& graph, const Strategy& strategy, const Cluster& cluster,
                   const GradientSync& sync) {
  SCOPED_TRACE(strategy.name());
  LowerOptions options;
  options.sync = sync;
  const Communication counted = communication(lower(graph, cluster, strategy, options));
  EXPECT_EQ(counted.transfer, Bytes{4 * testing::count_transfers(graph, strategy)});
  EXPECT_EQ(counted.sync, Bytes{4 * testing::count_sync(graph, strategy)});
}

constexpr int kRounds = testing::kSanitized ? 240 : 1000;

TEST(Communication, EqualsACountElementByElementOnRandomNetworks) {
  const std::uint64_t seed = 20180711;
  Random random(seed);
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed << " round " << round);
    const Graph graph = testing::random_graph(random);
    const auto devices = static_cast<std::size_t>(testing::pick(random, 1, 6));
    const Cluster cluster = testing::star(devices);
    const int count = static_cast<int>(devices);
    expect_counts(graph, data_parallel(graph, count), cluster, SyncAlgorithm::ring);
    expect_counts(graph, model_parallel(graph, count), cluster, SyncAlgorithm::ps);
    expect_counts(graph, owt_parallel(graph, count), cluster,
                  {SyncAlgorithm::tree, {4 * testing::pick(random, 1, 400)}});
    const Strategy any = testing::random_strategy(random, graph, devices);
    ASSERT_TRUE(validate(any, graph, cluster).empty());
    expect_counts(graph, any, cluster,
                  {SyncAlgorithm::automatic, {4 * testing::pick(random, 0, 400)}});
    if (HasFailure()) return;
  }
}

TEST(Communication, EqualsACountElementByElementOnRandomTransformers) {
  const std::uint64_t seed = 20261125;
  Random random(seed);
  for (int round = 0; round < kRounds / 3; ++round) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed << " round " << round);
    const Graph graph = testing::random_transformer(random);
    SCOPED_TRACE(graph.name());
    const auto devices = static_cast<std::size_t>(testing::pick(random, 1, 6));
    const Cluster cluster = testing::star(devices);
    const int count = static_cast<int>(devices);
    const Strategy any = testing::random_strategy(random, graph, devices);
    const Strategy data = data_parallel(graph, count), model = model_parallel(graph, count);
    for (const Strategy& strategy : {any, data, model}) {
      ASSERT_EQ(validate(strategy, graph, cluster), std::vector<std::string>{});
    }
    expect_counts(graph, data, cluster, SyncAlgorithm::ring);
    expect_counts(graph, model, cluster, SyncAlgorithm::ps);
    expect_counts(graph, any, cluster,
                  {SyncAlgorithm::automatic, {4 * testing::pick(random, 0, 400)}});
    if (HasFailure()) return;
  }
}

// The layers from `turn` on lie as `later` has them, on devices after the first so many.
Strategy in_two_stages(const Graph& graph, const Strategy& first, const Strategy& later,
                       std::size_t turn, std::size_t devices) {
  std::vector<Config> configs;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const bool second = i >= turn;
    Config config = (second ? later : first)[LayerId(i)];
    std::vector<DeviceId> shifted;
    for (DeviceId device : config.devices) shifted.emplace_back(device() + (second ? devices : 0));
    config.devices = std::move(shifted);
    configs.push_back(std::move(config));
  }
  return {first.name() + " then " + later.name(), std::move(configs)};
}

// Layers of the second stage that read the same of the first one get it once.
TEST(Communication, EqualsACountElementByElementInTwoStages) {
  Random random(24);
  int shared = 0;
  for (int round = 0; round < kRounds / 2; ++round) {
    SCOPED_TRACE(::testing::Message() << "round " << round);
    const Graph graph =
        round % 2 == 0 ? testing::random_graph(random) : testing::random_transformer(random);
    const int count = static_cast<int>(testing::pick(random, 1, 3));
    const auto devices = static_cast<std::size_t>(count);
    const Strategy kinds[] = {data_parallel(graph, count), model_parallel(graph, count),
                              testing::random_strategy(random, graph, devices)};
    const auto turn = static_cast<std::size_t>(
        testing::pick(random, 1, static_cast<std::int64_t>(graph.size()) - 1));
    const Strategy strategy = in_two_stages(graph, kinds[random() % std::size(kinds)],
                                            kinds[random() % std::size(kinds)], turn, devices);
    const Cluster cluster = testing::star(2 * devices);
    if (!validate(strategy, graph, cluster).empty()) continue;
    expect_counts(graph, strategy, cluster, SyncAlgorithm::ring);
    shared += !shared_readings(graph, strategy, stages_of(graph, strategy)).empty();
    if (HasFailure()) return;
  }
  EXPECT_GT(shared, kRounds / 20);
}

TEST(Communication, JoinedTransfersMoveTheSameBytes) {
  Random random(7);
  int with_joins = 0;
  for (int round = 0; round < 50; ++round) {
    const Graph graph = testing::random_graph(random);
    const Cluster cluster = testing::star(6);
    const Strategy any = testing::random_strategy(random, graph, 6);
    LowerOptions joined;
    joined.max_flows_per_edge = 1;
    const Plan few = lower(graph, cluster, any, joined), many = lower(graph, cluster, any);
    EXPECT_EQ(communication(few), communication(many));
    EXPECT_EQ(few.runnable(), !few.joins_transfers());
    EXPECT_FALSE(many.joins_transfers());
    with_joins += few.joins_transfers();
  }
  EXPECT_GT(with_joins, 10);
}

TEST(Communication, ParametersMayBeOfATypeOfTheirOwn) {
  const Graph graph = build_zoo("lenet5", 8);
  const Strategy strategy = owt_parallel(graph, 2);
  const auto counted = [&](DTypes dtypes) {
    LowerOptions options;
    options.dtypes = dtypes;
    return communication(lower(graph, testing::star(2), strategy, options));
  };
  const Communication wide = counted(DType::fp32), narrow = counted(DType::bf16),
                      mixed = counted(fp32_parameters(DType::bf16));
  ASSERT_GT(wide.transfer, Bytes{0});
  EXPECT_EQ(narrow.transfer * 2, wide.transfer);
  EXPECT_EQ(narrow.sync * 2, wide.sync);
  EXPECT_EQ(mixed.transfer, narrow.transfer);
  EXPECT_EQ(mixed.sync, wide.sync);
}

// Shoeybi et al. 2020: two all-reduces forward and two backward, each of s b h elements, which move
// 2 (t - 1) times as many over all devices; Korthikanti et al. 2022: with sequence parallelism as
// many, as reduce-scatters and all-gathers. Context parallelism gathers keys and values besides.
TEST(Communication, OfATransformersBlockIsFourSums) {
  const std::int64_t batch = 2, tokens = 16, hidden = 32, t = 4;
  const Graph graph = build_zoo("gpt:layers=3,hidden=32,heads=4,seq=16,vocab=64", batch);
  const auto elements = [&](const char* sizes, int devices) {
    const Strategy strategy = hybrid_parallel(graph, devices, sizes);
    const Plan plan = lower(graph, testing::star(static_cast<std::size_t>(devices)), strategy);
    std::int64_t bytes = 0;
    for (const Task& task : plan.tasks()) {
      const bool moves = task.kind == TaskKind::transfer && task.phase != Phase::update;
      if (!moves || !graph[task.layer].name.starts_with("block2_")) continue;
      bytes += plan.transfers()[task.detail].bytes.value;
    }
    return bytes / 4;
  };
  const std::int64_t four_sums = 4 * 2 * (t - 1) * batch * tokens * hidden;
  EXPECT_EQ(elements("hybrid:tp=4", 4), four_sums);
  EXPECT_EQ(elements("hybrid:tp=4,sp=1", 4), four_sums);
  EXPECT_EQ(elements("hybrid:tp=4", 8), four_sums);
  EXPECT_EQ(elements("hybrid:tp=4,sp=1", 8), four_sums);
  // The second half reads the first half's keys and values, whose gradients come back.
  EXPECT_EQ(elements("hybrid:cp=2", 2), 2 * 2 * batch * tokens / 2 * hidden);
  // Queries, keys, values and what comes of them, each of whose parts keeps one of four parts of
  // itself, and their gradients.
  EXPECT_EQ(elements("hybrid:cp=4,cp_by=heads", 4), 2 * 4 * batch * tokens * hidden * 3 / 4);
}

// Lepikhin et al. 2020: an all-to-all to the experts and one back, forward and backward, each of
// all slots but those of a device's own experts. Gradients of experts are summed over the replicas
// of each.
TEST(Communication, OfExpertsAreFourAllToAlls) {
  const std::int64_t batch = 8, tokens = 16, hidden = 32, top_k = 2, wide = 24;
  const Graph graph = build_zoo(
      "llama:layers=3,hidden=32,heads=4,seq=16,vocab=64,experts=8,topk=2,moe_ffn=24", batch);
  const auto lowered = [&](const char* sizes, int devices) {
    return lower(graph, testing::star(static_cast<std::size_t>(devices)),
                 hybrid_parallel(graph, devices, sizes));
  };
  const auto elements = [&](const Plan& plan, std::string_view prefix) {
    std::int64_t bytes = 0;
    for (const Task& task : plan.tasks()) {
      const bool moves = task.kind == TaskKind::transfer && task.phase != Phase::update;
      if (!moves || !graph[task.layer].name.starts_with(prefix)) continue;
      bytes += plan.transfers()[task.detail].bytes.value;
    }
    return bytes / 4;
  };
  const std::int64_t slots = batch * tokens * top_k * hidden;
  const std::int64_t of_experts = 3 * 8 * 3 * hidden * wide,
                     others = graph.parameters() - of_experts;
  for (const std::int64_t ep : {2, 4, 8}) {
    for (const std::int64_t devices : {ep, 8L}) {
      const Plan plan = lowered(fmt::format("hybrid:ep={}", ep).c_str(), static_cast<int>(devices));
      EXPECT_EQ(elements(plan, "block2_"), 4 * slots * (ep - 1) / ep) << ep << " of " << devices;
      const std::int64_t sums = 2 * (devices - 1) * others + 2 * (devices / ep - 1) * of_experts;
      EXPECT_EQ(communication(plan).sync, Bytes{4 * sums}) << ep << " of " << devices;
    }
  }
  // Devices that share tokens' channels share tokens between products, as they do experts.
  EXPECT_EQ(elements(lowered("hybrid:tp=4,sp=1,ep=4,etp=1", 4), "block2_ffn_"), 4 * slots * 3 / 4);
}

// Copies that copies read, bin by bin of their own, have the whole gradient of what they compute.
TEST(Communication, CopiesThatReadBinsOfTheirOwnGiveNoGradientBack) {
  GraphBuilder builder("bins", 2);
  const LayerId data = builder.add("data", Input{{1, 4, 1, 1, 36}}, {});
  const LayerId first = builder.add("first", Convolution{.rank = 1, .out_channels = 4}, {data});
  const LayerId second = builder.add("second", Activation{}, {first});
  builder.add("pool", AdaptivePooling{.rank = 1, .w = 18}, {second});
  const Graph graph = std::move(builder).build();
  Degrees parts = kWhole, copies = kWhole;
  parts[Dim::w] = parts[Dim::c] = 2;
  copies[Dim::w] = copies.r = 2;
  copies.scatter = Dim::w;
  const Config made = config_on_first_devices(parts), copied = config_on_first_devices(copies);
  expect_counts(graph, Strategy("copies", {made, made, copied, copied}), testing::star(4), {});
}

// 138,357,544 parameters x 4 bytes x 2 (16 - 1).
TEST(Communication, Vgg16UnderDataParallelismOnSixteenDevicesIsAllSynchronisation) {
  const Graph graph = build_zoo("vgg16", 16 * 32);
  const Communication counted =
      communication(lower(graph, testing::star(16), data_parallel(graph, 16)));
  EXPECT_EQ(counted.sync, Bytes{16'602'905'280});
  EXPECT_EQ(counted.transfer, Bytes{0});
}

// Convolutions: 2,469,696 parameters x 4 bytes x 2 x 3 replicas = 59,272,704. The inputs of the
// three fully-connected layers (9216, 4096 and 4096 features of 128 samples) are gathered: each of
// 4 devices lacks 3/4 of them, forward and as gradients: 28,311,552 + 2 x 12,582,912. The loss,
// cut in c as the last layer is, exchanges row statistics only.
TEST(Communication, AlexNetUnderOwtOnFourDevices) {
  const Graph graph = build_zoo("alexnet", 4 * 32);
  const Communication counted =
      communication(lower(graph, testing::star(4), owt_parallel(graph, 4)));
  EXPECT_EQ(counted.total(), Bytes{112'750'080});
}

}  // namespace
}  // namespace strata
