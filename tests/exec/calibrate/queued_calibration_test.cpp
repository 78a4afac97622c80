// What is measured where devices work through queues, on a host that stands for GPUs: all of it, on
// all of them, in any type, and what a round leaves behind.

#include <map>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exec/calibrate/calibration.h"
#include "exec/cuda/run/cuda_backend.h"
#include "exec/cuda/run/stream_run.h"
#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "sim/strategy/strategy.h"
#include "tests/exec/calibrate/requests.h"
#include "tests/exec/cuda/host_device.h"
#include "tests/exec/zoo/small_network.h"
#include "tests/exec/zoo/trained.h"

namespace strata {
namespace {

using strata::testing::requests_for;
using strata::testing::SmallNetwork;

const std::vector<Bytes> kSizes = {{1024}, {4096}};
constexpr SmallNetwork kNetwork{"lenet5", 2, 0, 4};
constexpr DType kDtypes[] = {DType::fp32, DType::tf32, DType::bf16};
constexpr cuda::Precision kPrecisions[] = {cuda::Precision::fp32, cuda::Precision::tf32,
                                           cuda::Precision::bf16};

struct Measured {
  Graph graph;
  std::shared_ptr<cuda::CudaBackend> backend;
  std::unique_ptr<Measurer> measurer;

  explicit Measured(const std::vector<int>& gpus, std::size_t type = 0,
                    const CalibrateOptions& options = here(),
                    const SmallNetwork& network = kNetwork)
      : graph(strata::testing::build(network)),
        backend(std::make_shared<cuda::CudaBackend>(gpus, kPrecisions[type])),
        measurer(calibrate(backend, graph, {requests_for(graph), kSizes, kDtypes[type]}, options)) {
  }
  static CalibrateOptions here() {
    CalibrateOptions options;
    options.source = "here";
    return options;
  }
  std::set<CostKey> wanted(DType dtype) const {
    std::set<CostKey> keys;
    for (const MeasureRequest& r : requests_for(graph)) {
      keys.insert(cost_key(graph, r.layer, r.output, dtype, r.phase));
    }
    return keys;
  }
};

std::set<CostKey> keys(const std::vector<MeasuredCost>& rows) {
  std::set<CostKey> keys;
  for (const MeasuredCost& row : rows) keys.insert(row.key);
  return keys;
}

// The clock counts pieces of work, so whatever did not run between its events took none.
TEST(QueuedCalibration, TimesEveryShapeInItsTypeOnAllDevices) {
  for (std::size_t type = 0; type < std::size(kDtypes); ++type) {
    SCOPED_TRACE(name(kDtypes[type]));
    cuda::host::draw_orders_from(type);
    const Measured measured({0, 0, 0}, type);
    for (int round = 0; round < 2; ++round) measured.measurer->round(nullptr);
    const std::vector<MeasuredCost> rows = measured.measurer->costs(Sampled::always);
    EXPECT_EQ(keys(rows), measured.wanted(kDtypes[type]));
    for (const MeasuredCost& row : rows) {
      EXPECT_GT(row.seconds.value, 0) << row.key.signature << " " << name(row.key.phase);
      EXPECT_EQ(row.count % 3, 0) << "a device is missing";
      EXPECT_GE(row.count, 2 * 3);
      EXPECT_EQ(row.source, "here");
    }
  }
}

// As steps of a run are that is recorded: all devices' work of a layer as one, and nothing of it
// before it is played.
TEST(QueuedCalibration, RecordsWhatItIsAskedTo) {
  cuda::host::set_gpus(2);
  CalibrateOptions options = Measured::here();
  options.recorded = true;
  for (const std::vector<int>& gpus : {std::vector{0}, std::vector{0, 0}, std::vector{0, 1}}) {
    SCOPED_TRACE(::testing::PrintToString(gpus));
    cuda::host::draw_orders_from(gpus.size());
    const std::size_t before = cuda::host::recordings();
    const Measured measured(gpus, 0, options), plain(gpus);
    const auto has = ::testing::HasSubstr("recorded as a graph and played");
    EXPECT_THAT(measured.measurer->method(), has);
    EXPECT_THAT(plain.measurer->method(), ::testing::Not(has));
    for (int round = 0; round < 2; ++round) measured.measurer->round(nullptr);
    // Each layer at least, forward and back, and each move.
    EXPECT_GE(cuda::host::recordings() - before, 2 * 2 * (measured.graph.size() - 1));
    plain.measurer->round(nullptr);
    const auto rows = measured.measurer->costs(Sampled::always);
    EXPECT_EQ(keys(rows), keys(plain.measurer->costs(Sampled::always)));
    for (const MeasuredCost& row : rows) EXPECT_GT(row.seconds.value, 0);
    EXPECT_EQ(measured.measurer->moves().size(), plain.measurer->moves().size());
  }
  cuda::host::set_gpus(1);
}

TEST(QueuedCalibration, TellsWhatEachDeviceTookInTheLastRound) {
  const Measured measured({0, 0});
  measured.measurer->round(nullptr);
  const RoundTimes times = measured.measurer->last_round();
  ASSERT_EQ(times.size(), 2u);
  for (const DeviceRound& device : times) {
    ASSERT_EQ(device.shards.size(), requests_for(measured.graph).size());
    for (Seconds time : device.shards) EXPECT_GT(time.value, 0);
    EXPECT_TRUE(device.waits.empty());
  }
}

TEST(QueuedCalibration, MovesAreCopiesSumsAndLocal) {
  const Measured measured({0, 0});
  measured.measurer->round(nullptr);
  std::set<std::pair<MoveKind, std::int64_t>> moves;
  for (const MeasuredMove& move : measured.measurer->moves()) {
    moves.emplace(move.kind, move.bytes.value);
    EXPECT_GT(move.seconds.value, 0);
  }
  EXPECT_EQ(moves.size(), 3 * kSizes.size());
}

TEST(QueuedCalibration, OneDeviceHasNobodyToCopyFrom) {
  const Measured measured({0});
  measured.measurer->round(nullptr);
  for (const MeasuredMove& move : measured.measurer->moves()) {
    EXPECT_EQ(move.kind, MoveKind::local);
  }
}

// GPUs that can't read each other's memory still copy from it.
TEST(QueuedCalibration, WhoHasAGpuToItselfSumsNothingOfOthers) {
  cuda::host::set_gpus(2);
  cuda::host::keep_apart(0, 1);
  CalibrateOptions options = Measured::here();
  options.sums = false;
  {
    const Measured measured({0, 1}, 0, options);
    measured.measurer->round(nullptr);
    std::set<MoveKind> kinds;
    for (const MeasuredMove& move : measured.measurer->moves()) kinds.insert(move.kind);
    EXPECT_THAT(kinds, ::testing::UnorderedElementsAre(MoveKind::copy, MoveKind::local));
  }
  cuda::host::join_all();
  cuda::host::set_gpus(1);
}

// However little memory there is, the same rows come of it.
TEST(QueuedCalibration, SmallMemoriesAreMeasuredInStretches) {
  const Measured whole({0, 0});
  whole.measurer->round(nullptr);
  CalibrateOptions options = Measured::here();
  options.memory = Bytes{1};  // no shape fits beside another, and no kernel lasts
  const Measured cut({0, 0}, 0, options);
  for (int round = 0; round < 2; ++round) cut.measurer->round(nullptr);
  EXPECT_EQ(keys(cut.measurer->costs(Sampled::always)),
            keys(whole.measurer->costs(Sampled::always)));
}

TEST(QueuedCalibration, MemoryIsLentBetweenRoundsAndGivenBack) {
  const std::int64_t before = cuda::host::memory_taken();
  {
    const Measured measured({0, 0});
    measured.measurer->round(nullptr);
    const std::int64_t after_one = cuda::host::memory_taken();
    for (int round = 0; round < 3; ++round) measured.measurer->round(nullptr);
    EXPECT_EQ(cuda::host::memory_taken(), after_one);
  }
  EXPECT_EQ(cuda::host::memory_taken(), before);
}

// As `strata validate` does: a run and what is measured beside it take turns on one backend.
TEST(QueuedCalibration, TakesTurnsWithARun) {
  const Graph graph = strata::testing::build(kNetwork);
  const Strategy data = data_parallel(graph, 2);
  const Plan plan = strata::testing::plan_to_train(graph, data, 2, SyncAlgorithm::ring);
  const auto train = [&](bool in_turns) {
    const auto backend =
        std::make_shared<cuda::CudaBackend>(std::vector<int>{0, 0}, cuda::Precision::fp32);
    cuda::StreamExecutor executor(graph, plan, *backend, strata::testing::training_options());
    const auto measurer =
        calibrate(backend, graph, {requests_for(graph), kSizes}, Measured::here());
    if (in_turns) measurer->round(nullptr);
    auto trained = strata::testing::train(executor, graph);
    if (in_turns) measurer->round(nullptr);
    return trained;
  };
  EXPECT_TRUE(strata::testing::differences(graph, train(true), train(false), 1e-6).empty());
}

// And the work that was under way then is waited for.
TEST(QueuedCalibration, EndsWhenCalledOffOrOutOfMemory) {
  const std::int64_t before = cuda::host::memory_taken();
  {
    const Measured measured({0, 0});
    const std::atomic<bool> cancelled = true;
    EXPECT_THROW(measured.measurer->round(&cancelled), Cancelled);
  }
  {
    const Measured measured({0, 0});
    cuda::host::set_memory(cuda::host::memory_taken());
    EXPECT_THROW(measured.measurer->round(nullptr), EnvironmentError);
    cuda::host::set_memory(std::int64_t{1} << 40U);
  }
  EXPECT_EQ(cuda::host::memory_taken(), before);
}

}  // namespace
}  // namespace strata
