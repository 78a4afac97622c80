#include "sim/timeline/breakdown.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../plan/random_case.h"
#include "sim/cluster/cluster_file.h"
#include "sim/cluster/what_if.h"
#include "sim/plan/lower.h"
#include "sim/plan/plan_builder.h"
#include "sim/simulate/simulate.h"
#include "sim/timeline/idle_time.h"
#include "two_layers.h"

namespace strata {
namespace {

// Of RoundCosts, where what a device moves by itself takes 1 ms.
class TenMilliseconds : public RoundCosts {
 public:
  Cost move(MoveKind, Bytes) const override { return {Seconds{kMs}}; }
  std::unique_ptr<CostModel> with(const KernelTraits&) const override {
    return std::make_unique<TenMilliseconds>(*this);
  }
};

// Few distinct durations, some of them 0.
class SmallCosts : public TenMilliseconds {
 public:
  Cost compute(const ShardWork& work, Phase phase) const override {
    const auto size = static_cast<double>(volume(work.output) % 4);
    return {Seconds{1e-6 * size * (phase == Phase::forward ? 1 : 2)}};
  }
  Cost move(MoveKind, Bytes bytes) const override {
    return {Seconds{1e-9 * static_cast<double>(bytes.value)}};
  }
};

// data (1000) -> a (fc 1250) -> loss, no biases.
Graph one_layer() {
  GraphBuilder builder("one", 8);
  const LayerId data = builder.add("data", Input{{{1, 1000, 1, 1, 1}}}, {});
  const LayerId a = builder.add("a", FullyConnected{1250, false}, {data});
  builder.add("loss", SoftmaxCrossEntropy{}, {a});
  return std::move(builder).build();
}

// `devices` on one switch.
Cluster on_a_switch(std::size_t devices, const std::string& bandwidth, bool copy_engine = true) {
  std::string toml = "name = \"star\"\n[[switch]]\nname = \"hub\"\n";
  for (std::size_t i = 0; i < devices; ++i) {
    toml += fmt::format(
        "[[device]]\nname = \"d{0}\"\nkind = \"p100\"\nhost = \"h\"\ncopy_engine = {1}\n"
        "[[link]]\nfrom = \"d{0}\"\nto = \"hub\"\nbandwidth = \"{2}\"\nlatency = \"0 s\"\n"
        "duplex = true\n",
        i, copy_engine, bandwidth);
  }
  return parse_cluster(toml, "star.toml");
}

struct Simulation {
  Plan plan;
  Timeline timeline;
};

struct Setting {
  std::size_t steps = 4;
  SyncAlgorithm sync = SyncAlgorithm::ring;
  Overlap overlap = Overlap::allowed;
  std::uint32_t rounds = 1;
  ScheduleChoice schedule = {};
  double communication_share = 0;
};

Simulation simulation(const Graph& graph, const Cluster& cluster, const Strategy& strategy,
                      const Setting& setting = {}, const CostModel& model = TenMilliseconds()) {
  const std::vector<const CostModel*> models(cluster.device_count(), &model);
  LayerCosts layer_costs(graph, {.dtypes = DType::fp32});
  LowerOptions options;
  options.sync.algorithm = setting.sync;
  options.rounds = setting.rounds;
  options.schedule = setting.schedule;
  Plan plan = lower(graph, cluster, strategy, options);
  const auto costs = task_costs(plan, graph, strategy, layer_costs, models);
  Runtime runtime = setting.overlap;
  runtime.communication_share = setting.communication_share;
  Timeline timeline = simulate(plan, cluster, costs, setting.steps, runtime);
  return {std::move(plan), std::move(timeline)};
}

// In milliseconds, in the order in which StepParts has them.
struct Parts {
  double compute = 0, recompute = 0, bubble = 0;
  double transfer = 0, reduce = 0, gather = 0, statistics = 0;
  double optimizer = 0;
};

void expect_near(const StepParts& parts, const Parts& expected) {
  const auto near = [](Seconds seconds, double milliseconds, const char* what) {
    EXPECT_NEAR(seconds.value, milliseconds * kMs, 1e-12) << what;
  };
  near(parts.compute, expected.compute, "compute");
  near(parts.recompute, expected.recompute, "recompute");
  near(parts.bubble, expected.bubble, "bubble");
  near(parts.exposed.transfer, expected.transfer, "transfer");
  near(parts.exposed.reduce, expected.reduce, "reduce");
  near(parts.exposed.gather, expected.gather, "gather");
  near(parts.exposed.statistics, expected.statistics, "statistics");
  near(parts.optimizer, expected.optimizer, "optimizer");
}

Config on_device(std::size_t device) {
  return {kWhole, {DeviceId(device)}};
}

TEST(Breakdown, OneDeviceComputesAndUpdates) {
  const Graph graph = two_layers(8);
  for (const std::size_t steps : {1, 2, 4}) {
    const Simulation r =
        simulation(graph, on_a_switch(1, "10 GB/s"), data_parallel(graph, 1), {steps});
    const Breakdown found = breakdown(r.plan, r.timeline);
    expect_near(found.mean, {.compute = 50, .optimizer = 4});
    EXPECT_EQ(found.devices, std::vector{found.mean});
  }
}

// Over 100 MB/s a ring of four sums b's 6.25 MB in 93.75 ms, from 40 ms, and then a's 5 MB in 75
// ms. The devices compute until 50 ms, wait, update b from 133.75 ms, wait, and update a from
// 208.75.
TEST(Breakdown, ADeviceWaitsForSumsOverSlowLinks) {
  const Graph graph = two_layers(8);
  for (const std::size_t steps : {1, 2, 4}) {
    const Simulation r =
        simulation(graph, on_a_switch(4, "100 MB/s"), data_parallel(graph, 4), {steps});
    ASSERT_NEAR(r.timeline.step_seconds().value, 210.75 * kMs, 1e-12);
    for (const StepParts& device : breakdown(r.plan, r.timeline).devices) {
      expect_near(device, {.compute = 50, .reduce = 83.75 + 73, .optimizer = 4});
    }
  }
}

// A ring of two over 10 GB/s: 0.625 ms for b, 0.5 ms for a.
TEST(Breakdown, WithoutOverlapAllCommunicationIsExposed) {
  const Graph graph = two_layers(8);
  const Simulation r = simulation(graph, on_a_switch(2, "10 GB/s"), data_parallel(graph, 2),
                                  {.overlap = Overlap::none});
  expect_near(breakdown(r.plan, r.timeline).mean, {.compute = 50, .reduce = 1.125, .optimizer = 4});
}

// d0 is a's server. From 0: both compute for 20 ms, d1 sends its gradients until 70, d0 updates
// until 72 and sends the parameters until 122, when d1 begins its next step. d0 begins its own at
// 72, computes until 92 and waits until 192: for the parameters until 122, for d1's computation
// until 142 and for its gradients. d1 waits from 142: for its gradients to arrive until 192, for
// the update until 194 and for the parameters until 244. So in every step of 122 ms.
TEST(Breakdown, AServerAndItsReplicaWaitForOneAnother) {
  const Graph graph = one_layer();
  const Simulation r = simulation(graph, on_a_switch(2, "100 MB/s"), data_parallel(graph, 2),
                                  {.sync = SyncAlgorithm::ps});
  ASSERT_NEAR(r.timeline.step_seconds().value, 122 * kMs, 1e-12);
  const Breakdown found = breakdown(r.plan, r.timeline);
  expect_near(found.devices[0],
              {.compute = 20, .bubble = 20, .reduce = 50, .gather = 30, .optimizer = 2});
  expect_near(found.devices[1], {.compute = 20, .bubble = 2, .reduce = 50, .gather = 50});
  expect_near(found.mean,
              {.compute = 20, .bubble = 11, .reduce = 50, .gather = 40, .optimizer = 1});
}

// a's output moves in 1 ms. d0: a until 10, a's weights from 32 to 42, their update until 44, and
// so on. d1: b from 11 to 21, its data and its weights until 41, its update until 43; then it waits
// until 55, for the update of a until 44, for a until 54 and for its output.
TEST(Breakdown, StagesWaitForOneAnother) {
  const Graph graph = two_layers(2000);
  const Strategy stages("stages", {on_device(0), on_device(0), on_device(1), on_device(1)});
  for (const std::size_t steps : {1, 2, 4}) {
    const Simulation r = simulation(graph, on_a_switch(3, "10 GB/s"), stages, {steps});
    ASSERT_NEAR(r.timeline.step_seconds().value, 44 * kMs, 1e-12);
    const Breakdown found = breakdown(r.plan, r.timeline);
    expect_near(found.devices[0], {.compute = 20, .bubble = 20, .transfer = 2, .optimizer = 2});
    expect_near(found.devices[1], {.compute = 30, .bubble = 11, .transfer = 1, .optimizer = 2});
    expect_near(found.devices[2], {.bubble = 44});
  }
}

// data -> a -> b -> c -> loss, each of three devices with one of the layers, and links so fast that
// nothing moves for long. m rounds of c take 30 m after the forward passes of a and b, 20 ms. The
// gradient of its input of the last round is there 10 ms before c ends; in 22 ms the gradients of
// b's input and of a's parameters follow, and a's update: a step takes 30 m + 32 ms. a computes for
// 20 m, since the data need no gradient, b and c for 30 m.
TEST(Breakdown, APipelineFillsAndDrains) {
  GraphBuilder builder("three", 8);
  LayerId at = builder.add("data", Input{{{1, 1000, 1, 1, 1}}}, {});
  for (const char* name : {"a", "b", "c"}) {
    at = builder.add(name, FullyConnected{1000, false}, {at});
  }
  builder.add("loss", SoftmaxCrossEntropy{}, {at});
  const Graph graph = std::move(builder).build();
  const Strategy stages("stages",
                        {on_device(0), on_device(0), on_device(1), on_device(2), on_device(2)});
  for (const std::uint32_t m : {1, 2, 5}) {
    for (const ScheduleKind kind : {ScheduleKind::gpipe, ScheduleKind::one_f_one_b}) {
      const Simulation r = simulation(graph, on_a_switch(3, "1000000 GB/s"), stages,
                                      {.rounds = m, .schedule = {kind, {}, {}}});
      const Breakdown found = breakdown(r.plan, r.timeline);
      const double moves = 1e-9;
      const auto expect = [&](const StepParts& parts, double compute, double bubble) {
        EXPECT_NEAR(parts.compute.value, compute * kMs, moves);
        EXPECT_NEAR(parts.bubble.value, bubble * kMs, moves);
        EXPECT_NEAR(parts.optimizer.value, 2 * kMs, moves);
      };
      expect(found.devices[0], 20 * m, 10 * m + 30);
      expect(found.devices[1], 30 * m, 30);
      expect(found.devices[2], 30 * m, 30);
    }
  }
}

TEST(Breakdown, ForwardPassesThatAreComputedAgainStandApart) {
  PlanBuilder builder(DType::fp32, 1);
  const auto add = [&](Phase phase) {
    Task task;
    task.kind = TaskKind::compute;
    task.phase = phase;
    task.layer = LayerId(0);
    task.device = DeviceId(0);
    task.stream = Stream::device;
    builder.add(task, {});
  };
  add(Phase::forward);
  builder.recompute(true);
  add(Phase::forward);
  builder.recompute(false);
  add(Phase::backward_weights);
  add(Phase::update);
  const Plan plan = std::move(builder).build();
  const auto span = [](double start, double end) { return Span{{start}, {start}, {end}}; };
  const Timeline timeline(4, {span(0, 1), span(1, 3), span(3, 7), span(7, 7.5)});
  expect_near(breakdown(plan, timeline).mean,
              {.compute = 5000, .recompute = 2000, .optimizer = 500});
}

// The slow device computes for 108 ms a step.
TEST(Breakdown, WaitingForAStragglerIsABubble) {
  const Graph graph = two_layers(8);
  const Cluster uneven = with_device_speed(on_a_switch(2, "1000000 GB/s"), "d1", Multiple{0.5});
  const Simulation r = simulation(graph, uneven, data_parallel(graph, 2));
  const StepParts fast = breakdown(r.plan, r.timeline).devices[0];
  EXPECT_NEAR(fast.compute.value, 50 * kMs, 1e-12);
  EXPECT_NEAR(fast.bubble.value, 54 * kMs, 1e-6);
}

// Each sum of gradients is a task of 1 ms, and so is fetching what the other summed.
TEST(Breakdown, ADeviceWithoutACopyEngineMovesForItself) {
  const Graph graph = two_layers(8);
  const Simulation r = simulation(graph, on_a_switch(2, "10 GB/s", false), data_parallel(graph, 2));
  expect_near(breakdown(r.plan, r.timeline).mean,
              {.compute = 50, .reduce = 2, .gather = 2, .optimizer = 4});
}

// Cut in c, each of four devices gathers 3/4 of a's 10 MB for b in 7.5 ms; the gradients go back
// while those of b's weights are made. A softmax over its 2000 samples moves some kB.
TEST(Breakdown, GatheredInputsAreExposedTransfers) {
  const Graph graph = two_layers(2000);
  const Simulation r = simulation(graph, on_a_switch(4, "1 GB/s"), model_parallel(graph, 4));
  const StepParts mean = breakdown(r.plan, r.timeline).mean;
  EXPECT_NEAR(mean.compute.value, 50 * kMs, 1e-12);
  EXPECT_NEAR(mean.exposed.transfer.value, 7.5 * kMs, 0.05 * kMs);
  EXPECT_NEAR(mean.exposed.statistics.value, 0, 0.05 * kMs);
  EXPECT_EQ(mean.exposed.reduce, Seconds{});
  EXPECT_EQ(mean.bubble, Seconds{});
}

// A step that is longer in the long run than in the window: the work of each device stays, and it
// waits longer.
TEST(Breakdown, ALongerStepIsMoreWaiting) {
  const Graph graph = two_layers(2000);
  const Strategy stages("stages", {on_device(0), on_device(0), on_device(1), on_device(1)});
  const Simulation r = simulation(graph, on_a_switch(2, "10 GB/s"), stages);
  const Timeline longer(r.plan.size(), r.timeline.spans(), {}, Seconds{66 * kMs});
  const Breakdown found = breakdown(r.plan, longer);
  expect_near(found.devices[0], {.compute = 20, .bubble = 40, .transfer = 4, .optimizer = 2});
  expect_near(found.devices[1],
              {.compute = 30, .bubble = 34 * 11.0 / 12, .transfer = 34 / 12.0, .optimizer = 2});
}

// Work that is slower in some steps than in others, of which the last one has most.
TEST(Breakdown, WorkIsNoLongerThanAStepInTheLongRun) {
  const Graph graph = two_layers(8);
  const Simulation r = simulation(graph, on_a_switch(1, "10 GB/s"), data_parallel(graph, 1));
  const auto [first, last] = r.timeline.steady_window();
  ASSERT_LT(first, last);
  std::vector<Span> spans = r.timeline.spans();
  // The last step's first task begins before the one that ends the step before it.
  const auto begin = spans.begin() + static_cast<std::ptrdiff_t>(last * r.plan.size());
  const auto ends_sooner = [](const Span& a, const Span& b) { return a.end < b.end; };
  const auto before =
      std::max_element(begin - static_cast<std::ptrdiff_t>(r.plan.size()), begin, ends_sooner);
  const auto after = std::find_if(begin, spans.end(),
                                  [](const Span& span) { return span.duration() > Seconds{}; });
  const Seconds from = before->start, to = after->end;
  *after = {from, from, from + after->duration()};
  *before = {after->end, after->end, to};
  const Timeline timeline(r.plan.size(), spans, {}, Seconds{50 * kMs});
  ASSERT_EQ(timeline.step_seconds(), Seconds{50 * kMs});
  expect_near(breakdown(r.plan, timeline).mean,
              {.compute = 50 * 50 / 54.0, .optimizer = 50 * 4 / 54.0});
}

void expect_parts_of(const StepParts& parts, Seconds step) {
  for (const Seconds part :
       {parts.compute, parts.recompute, parts.bubble, parts.exposed.transfer, parts.exposed.reduce,
        parts.exposed.gather, parts.exposed.statistics, parts.optimizer}) {
    EXPECT_GE(part, Seconds{});
  }
  EXPECT_NEAR(parts.total() / step, 1, 1e-12);
}

TEST(Breakdown, PartsComeToTheStep) {
  testing::Random random(41);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    const Graph graph = round % 4 == 0 ? testing::random_transformer(random)
                                       : testing::random_network(random, 3 + round % 7);
    const Cluster cluster = on_a_switch(5, round % 2 == 0 ? "10 GB/s" : "50 MB/s", round % 3 != 0);
    const Strategy strategy = testing::random_strategy(random, graph, 5);
    const Setting setting{static_cast<std::size_t>(testing::pick(random, 1, 6)),
                          static_cast<SyncAlgorithm>(testing::pick(random, 0, 4)),
                          round % 5 == 0 ? Overlap::none : Overlap::allowed,
                          1,
                          {},
                          round % 7 == 0 ? 0.3 : 0};
    const Simulation r = simulation(graph, cluster, strategy, setting, SmallCosts());
    const Seconds step = r.timeline.step_seconds();
    if (step == Seconds{}) continue;
    const Breakdown found = breakdown(r.plan, r.timeline);
    expect_parts_of(found.mean, step);
    for (const StepParts& device : found.devices) expect_parts_of(device, step);
  }
}

// With its work they are the whole timeline, and none lies where the device works.
void expect_waits_between_work(const Simulation& r, DeviceId device) {
  const std::vector<IdleTime> found = idle_times(r.plan, r.timeline)[device()];
  std::vector<IdleTime> all = found;
  for (std::size_t step = 0; step < r.timeline.steps(); ++step) {
    for (std::size_t i = 0; i < r.plan.size(); ++i) {
      const Task& task = r.plan[TaskId(i)];
      if (task.device != device || task.stream != Stream::device) continue;
      const Span& span = r.timeline.span(step, TaskId(i));
      if (span.end > span.start) all.push_back({span.start, span.end, {}});
    }
  }
  std::ranges::sort(all, {}, &IdleTime::from);
  Seconds until;
  for (const IdleTime& each : all) {
    EXPECT_EQ(each.from, until);
    until = each.to;
  }
  EXPECT_EQ(until, r.timeline.makespan());
  for (std::size_t i = 1; i < found.size(); ++i) {
    EXPECT_FALSE(found[i - 1].to == found[i].from && found[i - 1].reason == found[i].reason);
  }
}

TEST(IdleTimes, LieBetweenADevicesWork) {
  testing::Random random(43);
  for (int round = 0; round < 50; ++round) {
    SCOPED_TRACE(round);
    const Graph graph = testing::random_network(random, 3 + round % 7);
    const Cluster cluster = on_a_switch(4, round % 2 == 0 ? "10 GB/s" : "50 MB/s", round % 3 != 0);
    const Strategy strategy = testing::random_strategy(random, graph, 4);
    const Simulation r = simulation(graph, cluster, strategy, {}, SmallCosts());
    for (std::size_t d = 0; d < 4; ++d) expect_waits_between_work(r, DeviceId(d));
  }
}

// Two stages: the second waits for the first's computation, then for what that sends; the first,
// while the second computes.
TEST(IdleTimes, SayWhatADeviceWaitsFor) {
  const Graph graph = two_layers(8);
  const Strategy stages("stages", {on_device(0), on_device(0), on_device(1), on_device(1)});
  const Simulation r = simulation(graph, on_a_switch(2, "10 GB/s"), stages, {.steps = 1});
  const auto found = idle_times(r.plan, r.timeline);
  ASSERT_GE(found[1].size(), 2U);
  EXPECT_EQ(found[1][0].reason, WaitsFor::computation);
  EXPECT_NEAR(found[1][0].to.value, 10 * kMs, 1e-12);
  EXPECT_EQ(found[1][1].reason, WaitsFor::transfer);
  ASSERT_FALSE(found[0].empty());
  EXPECT_NEAR(found[0][0].from.value, 10 * kMs, 1e-12);
  EXPECT_EQ(found[0][0].reason, WaitsFor::transfer);
}

}  // namespace
}  // namespace strata
