// Ways to put a run on streams: played from a recording, or one task at a time on each GPU. Both
// give to the bit what plain runs give, in any order that their events allow.

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "exec/cuda/run/stream_run.h"
#include "sim/cluster/gpu_cluster.h"
#include "sim/plan/lower.h"
#include "sim/strategy/strategy.h"
#include "sim/train/dataset.h"
#include "tests/exec/cuda/host_device.h"
#include "tests/exec/zoo/small_network.h"
#include "tests/exec/zoo/trained.h"

namespace strata::cuda {
namespace {

using strata::testing::SmallNetwork;
using strata::testing::Trained;
using Devices = std::vector<int>;  // the GPU of each

constexpr std::uint64_t kBatches = 3;
// Steps of each run: the first ones of all are plain, and each run's last.
constexpr std::array<std::size_t, 4> kRuns = {4, 1, 2, 5};

Plan plan_for(const Devices& gpus, const Graph& graph, const Strategy& strategy) {
  std::vector<GpuDevice> devices;
  for (std::size_t d = 0; d < gpus.size(); ++d) {
    devices.push_back({gpus[d], device_name(gpus, d), "host"});
  }
  return lower(graph, gpu_cluster("cuda", devices), strategy, {});
}

struct Way {
  bool serial = false, recorded = false;
  /// Between two runs, memory that kernels work in moves, or somebody takes memory to keep.
  bool moved = false, crowded = false;
};

/// What came of some runs, and their timelines.
struct Runs {
  Trained trained;
  std::vector<Timeline> timelines;
};

/// Memory that another user of the devices keeps.
class Kept {
 public:
  explicit Kept(CudaBackend& backend) : backend_(backend) {
    backend.enter(DeviceId(0));
    values_ = static_cast<float*>(backend.allocate(DeviceId(0), kCount * 4));
    backend.fill_values(values_, kCount);
    before_ = held();
  }
  bool is_as_it_was() const { return held() == before_; }

 private:
  static constexpr std::int64_t kCount = 5000;
  std::vector<float> held() const {
    std::vector<float> held(kCount);
    backend_.enter(DeviceId(0));
    backend_.copy_values(held.data(), values_, kCount);
    backend_.finish();
    return held;
  }

  CudaBackend& backend_;
  float* values_ = nullptr;
  std::vector<float> before_;
};

class LaunchModes : public ::testing::TestWithParam<SmallNetwork> {
 protected:
  LaunchModes() : graph_(strata::testing::build(GetParam())) {
    host::set_gpus(4);
    for (std::uint64_t seed = 0; seed < kBatches; ++seed) {
      data_.push_back(synthetic_dataset(graph_, seed));
    }
  }

  /// Another batch in two steps of three.
  Batch batch(std::uint64_t step) const {
    const std::uint64_t number = 2 * step / 3 % kBatches;
    Batch batch = data_[number].batch(0);
    batch.number = number;
    return batch;
  }

  Runs run(const Devices& gpus, const Strategy& strategy, const Way& way) const {
    const Plan plan = plan_for(gpus, graph_, strategy);
    CudaBackend backend(gpus, Precision::fp32);
    const std::size_t recordings = host::recordings();
    ExecutionOptions options = strata::testing::training_options();
    options.serial = way.serial;
    options.recorded = way.recorded;
    StreamExecutor executor(graph_, plan, backend, options);
    const NetworkWeights weights = strata::testing::weights_to_train(graph_);
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      executor.set_parameters(LayerId(i), weights[i]);
    }
    Runs runs;
    std::vector<Kept> kept;
    for (std::size_t steps : kRuns) {
      if (way.moved) move_scratch(backend);
      if (way.crowded) kept.emplace_back(backend);
      const Execution done = executor.run(
          steps, [this](std::uint64_t step) { return batch(step); }, nullptr);
      runs.trained.losses.insert(runs.trained.losses.end(), done.losses.begin(), done.losses.end());
      runs.timelines.push_back(done.timeline);
      moved_.push_back(done.moved.transfer.value + done.moved.sync.value);
    }
    for (const Kept& one : kept) EXPECT_TRUE(one.is_as_it_was());
    EXPECT_EQ(backend.order().marks_missed(), 0U);
    recordings_ += host::recordings() - recordings;
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      runs.trained.gradients.push_back(executor.gradients(LayerId(i)));
      runs.trained.weights.push_back(executor.parameters(LayerId(i)));
    }
    return runs;
  }

  static void move_scratch(CudaBackend& backend) {
    static constexpr std::int64_t kMore = 1 << 20;
    Seat& seat = backend.seat(DeviceId(0));
    const std::uint64_t before = seat.moves();
    for (std::int64_t bytes = kMore; seat.moves() == before; bytes *= 2) seat.scratch(bytes);
  }

  void expect_the_same(const Devices& gpus, const Strategy& strategy, const Way& way) const {
    SCOPED_TRACE(strategy.name() + " on " + ::testing::PrintToString(gpus));
    moved_.clear();
    const Runs plain = run(gpus, strategy, {});
    const std::vector<std::int64_t> moved = std::exchange(moved_, {});
    const Runs other = run(gpus, strategy, way);
    EXPECT_EQ(other.trained.losses, plain.trained.losses);
    EXPECT_EQ(other.trained.gradients, plain.trained.gradients);
    EXPECT_EQ(other.trained.weights, plain.trained.weights);
    EXPECT_EQ(moved_, moved);
  }

  void expect_the_same(const Way& way) const {
    std::uint64_t seed = 0;
    for (const Devices& gpus : {Devices{0}, Devices{0, 0}, Devices{0, 1}, Devices{1, 0, 0}}) {
      const auto devices = static_cast<int>(gpus.size());
      for (const Strategy& strategy :
           {data_parallel(graph_, devices), owt_parallel(graph_, devices)}) {
        host::draw_orders_from(++seed);
        expect_the_same(gpus, strategy, way);
      }
    }
  }

  Graph graph_;
  std::vector<Dataset> data_;
  mutable std::vector<std::int64_t> moved_;  // by run: bytes between devices
  mutable std::size_t recordings_ = 0;       // of executors, whose backends have made theirs before
};

TEST_P(LaunchModes, PlayedStepsGiveWhatPlainOnesGive) {
  expect_the_same({.recorded = true});
}

// What comes before a playing must have come on all streams: some of so many orders would tell.
TEST_P(LaunchModes, PlayedStepsComeAfterTheirData) {
  if (std::string(GetParam().name) != "lenet5") GTEST_SKIP() << "the quickest network is enough";
  const Devices gpus = {0, 0};
  const Strategy strategy = data_parallel(graph_, 2);
  const Runs plain = run(gpus, strategy, {});
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    host::draw_orders_from(seed);
    const Runs played = run(gpus, strategy, {.recorded = true});
    ASSERT_EQ(played.trained.losses, plain.trained.losses) << seed;
  }
}

// One recording serves all runs of an executor.
TEST_P(LaunchModes, AStepIsRecordedAnewWhereMemoryIsNotAsItWas) {
  const Devices gpus = {0, 0};
  const Strategy strategy = data_parallel(graph_, 2);
  const auto recordings = [&](const Way& way) {
    recordings_ = 0;
    expect_the_same(gpus, strategy, way);
    return recordings_;
  };
  EXPECT_EQ(recordings({.recorded = true}), 1U);
  EXPECT_EQ(recordings({.recorded = true, .moved = true}), 3U);
  EXPECT_EQ(recordings({.recorded = true, .crowded = true}), 3U);
}

// Of lenet5's two convolutions, the first one's data have no gradient. No library is linked here.
TEST(PlainLoops, AreThoseOfTheExecutorsOwnKernels) {
  const Graph graph = strata::testing::build({"lenet5"});
  const Devices gpus = {0, 1};
  host::set_gpus(2);
  CudaBackend backend(gpus, Precision::fp32);
  const Plan plan = plan_for(gpus, graph, data_parallel(graph, 2));
  const Dataset data = strata::testing::data_to_train(graph);
  const auto batch_of = [&](std::uint64_t step) { return data.batch(step); };
  const NetworkWeights weights = strata::testing::weights_to_train(graph);
  // Both are there before either runs, as where strategies take turns.
  StreamExecutor first(graph, plan, backend, strata::testing::training_options());
  StreamExecutor second(graph, plan, backend, strata::testing::training_options());
  for (StreamExecutor* executor : {&first, &second}) {
    for (std::size_t i = 0; i < graph.size(); ++i) executor->set_parameters(LayerId(i), weights[i]);
  }
  for (StreamExecutor* executor : {&first, &second, &first}) {
    EXPECT_EQ(executor->run(2, batch_of, nullptr).plain_loops,
              (PlainLoops{2 * 5, "no library is linked"}));
  }
}

TEST_P(LaunchModes, SerialTasksGiveWhatOthersGive) {
  expect_the_same({.serial = true, .recorded = true});
}

// Of 4, 1, 2 and 5 steps, the first two of all are plain, and each run's last.
TEST_P(LaunchModes, OfPlayedStepsOnlyTheEndIsKnown) {
  const Runs runs = run({0, 0}, data_parallel(graph_, 2), {.recorded = true});
  std::vector<std::string> played;
  for (const Timeline& timeline : runs.timelines) {
    std::string steps;
    for (std::size_t s = 0; s < timeline.steps(); ++s) {
      const auto spans = timeline.step(s);
      const bool at_once = std::all_of(spans.begin(), spans.end(), [&](const Span& span) {
        return span.start == timeline.step_end(s) && span.end == timeline.step_end(s);
      });
      steps += at_once ? 'p' : '.';
    }
    played.push_back(steps);
  }
  EXPECT_EQ(played, (std::vector<std::string>{"..p.", ".", "p.", "pppp."}));
}

/// How many tasks began on a GPU before another one of it had ended.
std::size_t overlaps(const Timeline& timeline, const Plan& plan, const Devices& gpus) {
  std::size_t found = 0;
  for (int gpu : {0, 1}) {
    std::vector<Span> spans;
    for (std::size_t s = 0; s < timeline.steps(); ++s) {
      for (std::size_t i = 0; i < plan.size(); ++i) {
        if (gpus[plan[TaskId(i)].device()] != gpu) continue;
        spans.push_back(timeline.span(s, TaskId(i)));
      }
    }
    for (std::size_t i = 1; i < spans.size(); ++i) found += spans[i].start < spans[i - 1].end;
  }
  return found;
}

// In plan order.
TEST_P(LaunchModes, SerialTasksTakeTurnsOnAGpu) {
  const Devices gpus = {0, 0, 1};
  const Strategy strategy = data_parallel(graph_, 3);
  const Plan plan = plan_for(gpus, graph_, strategy);
  for (bool serial : {false, true}) {
    std::size_t found = 0;
    for (const Timeline& timeline : run(gpus, strategy, {.serial = serial}).timelines) {
      found += overlaps(timeline, plan, gpus);
    }
    EXPECT_EQ(found == 0, serial) << found;
  }
}

SmallNetwork network(std::string_view name, std::int64_t batch = 4, std::int64_t image = 0,
                     std::int64_t narrowing = 1) {
  return {name, batch, image, narrowing, false};
}

// Dropout draws anew in each step; batch norm sums over devices.
INSTANTIATE_TEST_SUITE_P(Zoo, LaunchModes,
                         ::testing::Values(network("lenet5"), network("alexnet", 4, 64, 16),
                                           network("resnet18", 4, 32, 16)),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace strata::cuda
