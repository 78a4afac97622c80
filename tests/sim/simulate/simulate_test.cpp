#include "sim/simulate/simulate.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "../plan/random_case.h"
#include "sim/base/error.h"
#include "sim/cluster/presets.h"
#include "sim/cluster/what_if.h"
#include "sim/cost/eq1.h"
#include "sim/plan/lower.h"
#include "sim/timeline/critical_path.h"
#include "sim/timeline/memory.h"
#include "two_layers.h"

namespace strata {
namespace {

TEST(Simulate, OneDeviceWorksWithoutAPause) {
  const Graph graph = two_layers(8);
  const Outcome r = run(graph, testing::star(1), data_parallel(graph, 1), 4);
  // Forward a, b; backward b: data and weights; a: weights only, since data needs no gradient:
  // 5 x 10 ms, and two updates of 2 ms.
  EXPECT_DOUBLE_EQ(r.timeline.step_seconds().value, 54 * kMs);
  EXPECT_DOUBLE_EQ(r.timeline.makespan().value, 4 * 54 * kMs);
}

// Costs that merge other products than the plan would be wrong without a word.
TEST(Simulate, CostsMergeThePlansProducts) {
  GraphBuilder builder("products", 8);
  const LayerId data = builder.add("data", Input{{{1, 8, 1, 1, 4}}}, {});
  builder.add("query", Linear{8, false}, {data});
  builder.add("key", Linear{8, false}, {data});
  const Graph graph = std::move(builder).build();
  const Strategy strategy = data_parallel(graph, 1);
  const RoundCosts costs;
  const CostModel* const models[] = {&costs};
  LowerOptions options;
  options.products = Products::merged;
  const Plan merged = lower(graph, testing::star(1), strategy, options);
  LayerCosts apart(graph, {.dtypes = DType::fp32}),
      together(graph, {DType::fp32, Optimizer::sgd, Products::merged});
  EXPECT_THROW(task_costs(merged, graph, strategy, apart, models), InternalError);
  EXPECT_EQ(task_costs(merged, graph, strategy, together, models).size(), merged.size());
}

TEST(Simulate, EachStepMayHaveItsOwnCosts) {
  const Graph graph = two_layers(8);
  const Outcome r = run(graph, testing::star(1), data_parallel(graph, 1), 1);
  std::vector<Cost> costs;
  for (const double factor : {1.0, 3.0, 2.0}) {
    for (const Span& span : r.timeline.step(0)) costs.push_back({span.duration() * factor});
  }
  const Timeline timeline = simulate(r.plan, testing::star(1), costs, 3);
  EXPECT_NEAR(timeline.step_end(0).value, 54 * kMs, 1e-12);
  EXPECT_NEAR(timeline.step_end(1).value, 4 * 54 * kMs, 1e-12);
  EXPECT_NEAR(timeline.step_end(2).value, 6 * 54 * kMs, 1e-12);
}

TEST(Simulate, DataParallelismHidesASyncBehindTheBackwardPass) {
  const Graph graph = two_layers(8);
  const Outcome r = run(graph, testing::star(2), data_parallel(graph, 2), 1);
  // b's weights: 1250 x 1250 x 4 = 6.25 MB; a ring of two moves 2 (1/2) 6.25 MB over each link at
  // 10 GB/s: 0.625 ms, from 40 ms (a, b, b's data, b's weights) while a's weights run until 50 ms.
  // a's weights: 5 MB, 0.5 ms from 50 ms. Updates: b's at 50 ms (its turn comes when the device
  // is free), 2 ms; then a's.
  EXPECT_NEAR(r.timeline.makespan().value, 54 * kMs, 1e-12);
  for (std::size_t i = 0; i < r.plan.size(); ++i) {
    const Task& task = r.plan[TaskId(i)];
    if (task.kind != TaskKind::collective) continue;
    const Span& span = r.timeline.span(0, TaskId(i));
    const bool is_b = graph[task.layer].name == "b";
    EXPECT_NEAR(span.start.value, (is_b ? 40 : 50) * kMs, 1e-12);
    EXPECT_NEAR(span.duration().value, (is_b ? 0.625 : 0.5) * kMs, 1e-12);
  }
}

// As above: each sum takes a fifth of the computing beside it, that of a's weights and b's update.
TEST(Simulate, SumsTakeTheirShareOfTheComputingBesideThem) {
  const Graph graph = two_layers(8);
  Runtime runtime;
  runtime.communication_share = 0.2;
  const Outcome r = run(graph, testing::star(2), data_parallel(graph, 2), 1, runtime);
  EXPECT_NEAR(r.timeline.makespan().value, (54 + 0.2 * (0.625 + 0.5)) * kMs, 1e-12);
  // Without overlap nothing is computed beside a sum.
  runtime.overlap = Overlap::none;
  const Outcome alone = run(graph, testing::star(2), data_parallel(graph, 2), 1, runtime);
  EXPECT_NEAR(alone.timeline.makespan().value, (54 + 0.625 + 0.5) * kMs, 1e-12);
}

// a is cut in its outputs, b in its inputs: what a device makes in a, it needs in b. Each then has
// its terms of b's 8 x 1250 sums and adds up those of 4 samples; 4 x 1250 x 4 bytes arrive at
// 10 GB/s in 2 us, and in the backward pass as many gradients.
TEST(Simulate, APartialSumIsScatteredAndItsGradientGathered) {
  const Graph graph = two_layers(8);
  Strategy strategy = data_parallel(graph, 2);
  std::vector<Config> configs(strategy.configs().begin(), strategy.configs().end());
  configs[1].degrees = {{1, 2, 1, 1, 1}};
  configs[2].degrees = {{1, 1, 1, 1, 1}, 2, Dim::n};
  strategy = {"column, then row", configs};
  ASSERT_EQ(validate(strategy, graph, testing::star(2)), std::vector<std::string>{});
  const Outcome r = run(graph, testing::star(2), strategy, 1);
  EXPECT_NEAR(r.timeline.makespan().value, 54.004 * kMs, 1e-12);
  EXPECT_EQ(communication(r.plan), (Communication{Bytes{2 * 2 * 4 * 1250 * 4}, {}, {}}));
  static const RoundCosts kCosts;
  const std::vector<const CostModel*> models(2, &kCosts);
  const Cluster two = testing::star(2);
  Eq1 eq1(graph, two, models, SyncAlgorithm::ring, {.dtypes = DType::fp32});
  const std::vector<LayerTerms> terms = eq1.terms(strategy);
  EXPECT_EQ(terms[1].transfer, Seconds{});
  EXPECT_NEAR(terms[2].transfer.value, 0.004 * kMs, 1e-15);
  EXPECT_EQ(terms[3].transfer, Seconds{});
  EXPECT_NEAR(total(terms).value, 54.004 * kMs, 1e-12);
}

TEST(Simulate, WithoutOverlapADeviceDoesOneAfterTheOther) {
  const Graph graph = two_layers(8);
  const Strategy data = data_parallel(graph, 2);
  // As above, but nothing hides: 50 ms of passes, 4 ms of updates, 0.625 and 0.5 ms of syncs.
  const Outcome r = run(graph, testing::star(2), data, 1, Overlap::none);
  EXPECT_NEAR(r.timeline.makespan().value, 55.125 * kMs, 1e-12);
  const Outcome steps = run(graph, testing::star(2), data, 4, Overlap::none);
  EXPECT_NEAR(steps.timeline.step_seconds().value, 55.125 * kMs, 1e-12);
}

// Devices that take part in a task that moves something.
std::vector<DeviceId> movers(const Plan& plan, const Task& task) {
  std::vector<DeviceId> devices = {task.device};
  if (task.kind != TaskKind::transfer) return devices;
  for (const Piece& piece : plan.pieces(plan.transfers()[task.detail])) {
    devices.push_back(piece.from);
  }
  return devices;
}

TEST(Simulate, WithoutOverlapNoDeviceComputesWhileItMoves) {
  testing::Random random(23);
  for (int round = 0; round < 30; ++round) {
    SCOPED_TRACE(round);
    const Graph graph = testing::random_graph(random);
    const Strategy strategy = testing::random_strategy(random, graph, 5);
    const Outcome r = run(graph, testing::star(5), strategy, 2, Overlap::none);
    const std::span<const Task> tasks = r.plan.tasks();
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (tasks[i].stream == Stream::device || tasks[i].kind == TaskKind::join) continue;
      const Span& move = r.timeline.span(1, TaskId(i));
      for (DeviceId device : movers(r.plan, tasks[i])) {
        for (std::size_t k = 0; k < tasks.size(); ++k) {
          if (tasks[k].stream != Stream::device || tasks[k].device != device) continue;
          const Span& work = r.timeline.span(1, TaskId(k));
          EXPECT_TRUE(work.end <= move.start || move.end <= work.start);
        }
      }
    }
  }
}

TEST(Simulate, ATransferCarriesTheOutputForwardAndItsGradientBack) {
  const Graph graph = two_layers(2000);
  const Cluster cluster = testing::star(2);
  const Strategy pipeline("pipeline", {on(0), on(0), on(1), on(1)});
  const Outcome r = run(graph, cluster, pipeline, 1);
  // a's output: 2000 x 1250 x 4 = 10 MB, 1 ms. a 10, move 1, b 10, b's data 10, move back 1, a's
  // weights 10, a's update 2 = 44 ms; b's weights and update run beside that.
  EXPECT_NEAR(r.timeline.makespan().value, 44 * kMs, 1e-12);
  const PathShares shares = path_shares(r.plan, r.timeline);
  EXPECT_NEAR(shares.transfer.value, 2 * kMs, 1e-12);
  EXPECT_NEAR(shares.compute.value, 42 * kMs, 1e-12);
}

TEST(Simulate, StepsOverlapWhereTheirDependenciesAllow) {
  const Graph graph = two_layers(2000);
  const Strategy pipeline("pipeline", {on(0), on(0), on(1), on(1)});
  const Outcome r = run(graph, testing::star(2), pipeline, 4);
  // Every layer's next forward waits for its update: a's chain of 44 ms has no room to overlap.
  EXPECT_NEAR(r.timeline.step_seconds().value, 44 * kMs, 1e-12);
}

// On one switch a gather of equal parts is symmetric: one flow a receiver, loading all senders'
// links, must take as long as the flows it stands for.
TEST(Simulate, JoinedFlowsEqualTheFlowsTheyStandFor) {
  const Graph graph = two_layers(2000);
  const Cluster cluster = testing::star(5);
  const Strategy strategy = model_parallel(graph, 5);
  static const RoundCosts kCosts;
  const std::vector<const CostModel*> models(5, &kCosts);
  LayerCosts layer_costs(graph, {.dtypes = DType::fp32});
  const auto makespan = [&](std::size_t most_flows) {
    LowerOptions options;
    options.max_flows_per_edge = most_flows;
    const Plan plan = lower(graph, cluster, strategy, options);
    const auto costs = task_costs(plan, graph, strategy, layer_costs, models);
    return simulate(plan, cluster, costs, 3).makespan().value;
  };
  EXPECT_NEAR(makespan(1), makespan(1000), 1e-9 * makespan(1000));
}

TEST(Simulate, LinkRatesIntegrateToTheBytesThatCrossed) {
  const Graph graph = two_layers(2000);
  const Cluster cluster = testing::star(3);
  static const RoundCosts kCosts;
  const std::vector<const CostModel*> models(3, &kCosts);
  LayerCosts layer_costs(graph, {.dtypes = DType::fp32});
  const Strategy strategy = owt_parallel(graph, 3);
  const Plan plan = lower(graph, cluster, strategy);
  const auto costs = task_costs(plan, graph, strategy, layer_costs, models);
  const Timeline timeline = simulate(plan, cluster, costs, 2, Overlap::allowed, true);
  std::vector<double> bytes(cluster.links().size());
  const auto rates = timeline.link_rates();
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const bool last = i + 1 == rates.size() || rates[i + 1].link != rates[i].link;
    if (last) {
      EXPECT_EQ(rates[i].rate, BytesPerSecond{0});
    } else {
      bytes[rates[i].link()] += rates[i].rate.value * (rates[i + 1].at - rates[i].at).value;
    }
  }
  const Utilisation use = utilisation(plan, timeline, cluster);
  for (std::size_t link = 0; link < bytes.size(); ++link) {
    EXPECT_NEAR(bytes[link], 2 * use.link_bytes[link], 1e-6 * use.link_bytes[link]);
  }
}

TEST(Simulate, AStragglerHoldsEveryReplicaUp) {
  const Graph graph = two_layers(8);
  const Cluster even = testing::star(2);
  const Cluster uneven = with_device_speed(even, "d1", Multiple{0.5});
  const Strategy data = data_parallel(graph, 2);
  EXPECT_DOUBLE_EQ(run(graph, even, data, 4).timeline.step_seconds().value, 54 * kMs);
  // The straggler computes for 108 ms a step; the other waits for its gradients.
  EXPECT_NEAR(run(graph, uneven, data, 4).timeline.step_seconds().value, 108 * kMs, 2 * kMs);
}

TEST(Simulate, EqualRunsAreEqualToTheBit) {
  testing::Random random(5);
  for (int round = 0; round < 20; ++round) {
    const Graph graph = testing::random_graph(random);
    const Cluster cluster = testing::star(5);
    const Strategy strategy = testing::random_strategy(random, graph, 5);
    EXPECT_EQ(run(graph, cluster, strategy, 3).timeline, run(graph, cluster, strategy, 3).timeline);
  }
}

TEST(Simulate, EveryTaskRunsAfterItsDependencies) {
  testing::Random random(11);
  for (int round = 0; round < 50; ++round) {
    const Graph graph = testing::random_graph(random);
    const Cluster cluster = testing::star(6);
    const Outcome r = run(graph, cluster, testing::random_strategy(random, graph, 6), 3);
    for (std::size_t step = 0; step < 3; ++step) {
      for (std::size_t i = 0; i < r.plan.size(); ++i) {
        const Span& span = r.timeline.span(step, TaskId(i));
        EXPECT_LE(span.ready, span.start);
        EXPECT_LE(span.start, span.end);
        for (TaskId before : r.plan.dependencies(TaskId(i))) {
          EXPECT_LE(r.timeline.span(step, before).end, span.start);
        }
        if (step == 0) continue;
        for (TaskId before : r.plan.carried(TaskId(i))) {
          EXPECT_LE(r.timeline.span(step - 1, before).end, span.start);
        }
      }
    }
  }
}

TEST(CriticalPath, IsAChainWithoutGapsFromTheStart) {
  testing::Random random(3);
  for (int round = 0; round < 30; ++round) {
    const Graph graph = testing::random_graph(random);
    const Cluster cluster = testing::star(4);
    const Outcome r = run(graph, cluster, testing::random_strategy(random, graph, 4), 3);
    Seconds at;
    for (const PathStep& step : critical_path(r.plan, r.timeline)) {
      const Span& span = r.timeline.span(step.step, step.task);
      EXPECT_EQ(span.start, at) << "round " << round;
      at = span.end;
    }
    EXPECT_EQ(at, r.timeline.makespan());
  }
}

// a holds 5 MB of weights, b 6.25 MB. Outputs of 8 samples: 8 x 1250 x 4 = 40 kB each.
TEST(Memory, CountsParametersGradientsAndActivations) {
  const Graph graph = two_layers(8);
  const Outcome r = run(graph, testing::star(1), data_parallel(graph, 1), 1);
  // Resident: 11.25 MB. At the peak b's weight gradient is made: 6.25 MB, beside the network's
  // input (8 x 1000 x 4), a's output, and the gradients of a's and b's outputs (40 kB each). It is
  // gone before a's is made: b's update comes first in plan order.
  EXPECT_EQ(peak_memory(r.plan, r.timeline).front(), Bytes{17'500'000 + 32'000 + 3 * 40'000});
}

// data (10) -> fc (1000) -> relu, in place -> fc2 (10) -> loss; 1000 samples.
Graph with_relu() {
  GraphBuilder builder("relu", 1000);
  const LayerId data = builder.add("data", Input{{{1, 10, 1, 1, 1}}}, {});
  const LayerId fc = builder.add("fc", FullyConnected{1000, false}, {data});
  const LayerId relu = builder.add("relu", Activation{}, {fc});
  const LayerId fc2 = builder.add("fc2", FullyConnected{10, false}, {relu});
  builder.add("loss", SoftmaxCrossEntropy{}, {fc2});
  return std::move(builder).build();
}

Bytes buffers_of(const Plan& plan, BufferKind kind, TaskId during) {
  Bytes sum;
  plan.for_each_use(during, [&](BufferId buffer, Access) {
    if (plan[buffer].kind == kind) sum += plan[buffer].bytes;
  });
  return sum;
}

TEST(Memory, TheGradientThatAnInPlaceLayerWorkedOnLivesUntilItsProducerHasReadIt) {
  const Graph graph = with_relu();
  const Outcome r = run(graph, testing::star(1), data_parallel(graph, 1), 1);
  for (std::size_t i = 0; i < r.plan.size(); ++i) {
    const Task& task = r.plan[TaskId(i)];
    if (graph[task.layer].name != "fc" || task.phase != Phase::backward_weights) continue;
    // dy of fc is what fc2's backward made and relu's changed in place: 1000 x 1000 x 4.
    EXPECT_EQ(buffers_of(r.plan, BufferKind::activation_gradient, TaskId(i)), Bytes{4'000'000});
  }
}

TEST(Memory, SiluKeepsItsInputAndReluDoesNot) {
  const auto activations = [](ActivationKind kind) {
    GraphBuilder builder("x", 10);
    const LayerId data = builder.add("data", Input{{{1, 10, 1, 1, 1}}}, {});
    const LayerId fc = builder.add("fc", FullyConnected{10}, {data});
    const LayerId act = builder.add("act", Activation{kind}, {fc});
    builder.add("loss", SoftmaxCrossEntropy{}, {act});
    const Graph graph = std::move(builder).build();
    const Plan plan = lower(graph, testing::star(1), data_parallel(graph, 1));
    return std::count_if(plan.buffers().begin(), plan.buffers().end(),
                         [](const Buffer& b) { return b.kind == BufferKind::activation; });
  };
  EXPECT_EQ(activations(ActivationKind::relu), 2);  // fc's with relu in it, and the loss's
  EXPECT_EQ(activations(ActivationKind::silu), 3);
}

TEST(Memory, AParameterServerHasRoomForEveryGradientThatArrives) {
  const Graph graph = two_layers(8);
  LowerOptions options;
  options.sync = SyncAlgorithm::ps;
  const Plan plan = lower(graph, testing::star(4), data_parallel(graph, 4), options);
  Bytes arriving;
  for (const Buffer& buffer : plan.buffers()) {
    if (buffer.kind == BufferKind::server_gradients) arriving += buffer.bytes;
  }
  EXPECT_EQ(arriving, 3 * Bytes{5'000'000 + 6'250'000});
}

// A buffer is taken over by the next step only when everybody has read it.
TEST(Memory, ABufferHoldsOneStepAtATime) {
  testing::Random random(21);
  for (int round = 0; round < 40; ++round) {
    const Graph graph = testing::random_graph(random);
    const Outcome r = run(graph, testing::star(5), testing::random_strategy(random, graph, 5), 4);
    std::vector<std::vector<TaskId>> users(r.plan.buffers().size());
    for (std::size_t i = 0; i < r.plan.size(); ++i) {
      r.plan.for_each_use(TaskId(i), [&](BufferId b, Access) { users[b()].push_back(TaskId(i)); });
    }
    for (std::size_t b = 0; b < users.size(); ++b) {
      if (r.plan.buffers()[b].lasts()) continue;
      for (std::size_t step = 0; step + 1 < 4; ++step) {
        for (TaskId last : users[b]) {
          for (TaskId first : users[b]) {
            EXPECT_LE(r.timeline.span(step, last).end, r.timeline.span(step + 1, first).start);
          }
        }
      }
    }
  }
}

// Without a loss nobody gives a gradient back.
TEST(Lower, ANetworkMayEndInALayerInPlace) {
  for (const Op& op :
       {Op(Activation{}), Op(Activation{.kind = ActivationKind::sigmoid}), Op(Dropout{})}) {
    GraphBuilder builder("open", 4);
    const LayerId data = builder.add("data", Input{{{1, 4, 1, 1, 1}}}, {});
    builder.add("last", op, {builder.add("fc", FullyConnected{4}, {data})});
    const Graph graph = std::move(builder).build();
    const Outcome r = run(graph, testing::star(2), data_parallel(graph, 2), 2);
    EXPECT_GT(r.timeline.makespan(), Seconds{0});
  }
}

TEST(Lower, LongChainsInPlaceNeedNoStack) {
  GraphBuilder builder("deep", 2);
  LayerId last = builder.add("data", Input{{{1, 4, 1, 1, 1}}}, {});
  last = builder.add("fc", FullyConnected{4}, {last});
  for (int i = 0; i < 60'000; ++i)
    last = builder.add("r" + std::to_string(i), Activation{}, {last});
  builder.add("loss", SoftmaxCrossEntropy{}, {last});
  const Graph graph = std::move(builder).build();
  EXPECT_GT(lower(graph, testing::star(1), data_parallel(graph, 1)).size(), 120'000u);
}

TEST(Lower, WhatNoLossDependsOnIsNotTrained) {
  GraphBuilder builder("two", 4);
  const LayerId data = builder.add("data", Input{{{1, 8, 1, 1, 1}}}, {});
  const LayerId used = builder.add("used", FullyConnected{8}, {data});
  const LayerId unused = builder.add("unused", FullyConnected{8}, {used});
  builder.add("loss", SoftmaxCrossEntropy{}, {used});
  const Graph graph = std::move(builder).build();
  const Plan plan = lower(graph, testing::star(2), data_parallel(graph, 2));
  for (const Task& task : plan.tasks()) {
    EXPECT_TRUE(task.layer != unused || task.phase == Phase::forward);
  }
  EXPECT_EQ(communication(plan).sync, Bytes{2 * (8 * 8 + 8) * 4});
}

// Two parts in c: one with both replicas in a host, one over two hosts; in either order.
TEST(Eq1, PartsWithReplicasInOneHostAndOverTwoAreCostedAlikeInEitherOrder) {
  const Graph graph = two_layers(16);
  const Cluster cluster = preset_cluster("p100-2x4");
  const RoundCosts costs;
  const std::vector<const CostModel*> models(8, &costs);
  const auto time = [&](std::vector<DeviceId> devices, SyncAlgorithm sync) {
    Eq1 eq1(graph, cluster, models, sync, {.dtypes = DType::fp32});
    return eq1.sync(LayerId(1), {{{2, 2, 1, 1, 1}}, std::move(devices)}).value;
  };
  // Shards 0 and 2 hold part 0, shards 1 and 3 part 1.
  const std::vector<DeviceId> near_first = {DeviceId(0), DeviceId(2), DeviceId(1), DeviceId(4)};
  const std::vector<DeviceId> far_first = {DeviceId(2), DeviceId(0), DeviceId(4), DeviceId(1)};
  for (SyncAlgorithm sync : {SyncAlgorithm::hierarchical, SyncAlgorithm::ring, SyncAlgorithm::tree,
                             SyncAlgorithm::automatic}) {
    EXPECT_NEAR(time(near_first, sync), time(far_first, sync), 1e-12);
    EXPECT_LE(time(near_first, SyncAlgorithm::automatic), time(near_first, sync));
  }
}

// Links without latency: seconds are as bytes.
TEST(Eq1, GradientsMoveInTheParametersType) {
  const Graph graph = two_layers(16);
  const RoundCosts costs;
  const std::vector<const CostModel*> models(2, &costs);
  const Cluster cluster = testing::star(2);
  const auto terms = [&](DTypes dtypes, const Degrees& degrees) {
    Eq1 eq1(graph, cluster, models, SyncAlgorithm::ring, {.dtypes = dtypes});
    return eq1.sync(LayerId(1), {degrees, {DeviceId(0), DeviceId(1)}}).value;
  };
  const Degrees by_sample{{2, 1, 1, 1, 1}};
  const double wide = terms(DType::fp32, by_sample);
  EXPECT_GT(wide, 0);
  EXPECT_EQ(terms(fp32_parameters(DType::bf16), by_sample), wide);
  EXPECT_LT(terms(DType::bf16, by_sample), wide);
}

TEST(Eq1, OneDeviceIsTheSumOfTheLayersAndEqualsTheSimulation) {
  const Graph graph = two_layers(8);
  const Cluster cluster = testing::star(1);
  const RoundCosts costs;
  const std::vector<const CostModel*> models = {&costs};
  Eq1 eq1(graph, cluster, models, SyncAlgorithm::ring, {.dtypes = DType::fp32});
  EXPECT_DOUBLE_EQ(total(eq1.terms(data_parallel(graph, 1))).value, 54 * kMs);
}

TEST(Eq1, TransfersAndSyncAreTheMostLoadedLinks) {
  const Graph graph = two_layers(2000);
  const Cluster cluster = testing::star(2);
  const RoundCosts costs;
  const std::vector<const CostModel*> models(2, &costs);
  Eq1 eq1(graph, cluster, models, SyncAlgorithm::ps, {.dtypes = DType::fp32});
  const LayerId a(1), b(2);
  // 10 MB from device 0 to device 1 and back, 1 ms each way.
  EXPECT_NEAR(eq1.transfer(b, 0, on(0), on(1), true).value, 2 * kMs, 1e-15);
  // Cut in c on both: each device lacks half of a's output, 5 MB in and 5 MB out.
  const Config half = config_on_first_devices({{1, 2, 1, 1, 1}});
  EXPECT_NEAR(eq1.transfer(b, 0, half, half, true).value, 1 * kMs, 1e-15);
  // A parameter server moves a's 5 MB in and out again, 0.5 ms each.
  const Config data = config_on_first_devices({{2, 1, 1, 1, 1}});
  EXPECT_NEAR(eq1.sync(a, data).value, 1 * kMs, 1e-15);
  EXPECT_EQ(eq1.sync(a, half), Seconds{0});
}

}  // namespace
}  // namespace strata
