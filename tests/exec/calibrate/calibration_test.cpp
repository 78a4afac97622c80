// What is measured, and how measuring ends: never how long anything takes.

#include "exec/calibrate/calibration.h"

#include <map>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "sim/graph/regions.h"
#include "sim/graph/zoo.h"
#include "tests/exec/calibrate/requests.h"
#include "tests/exec/runtime/failing_backend.h"
#include "tests/sim/plan/random_case.h"

namespace strata {
namespace {

using strata::testing::FailingBackend;
using strata::testing::Random;
using strata::testing::requests_for;

constexpr std::size_t kDevices = 2, kRounds = 3;
const std::vector<Bytes> kSizes = {{1024}, {4096}};

struct Measuring {
  Graph graph;
  FailingBackend* backend;
  std::unique_ptr<Measurer> measurer;

  explicit Measuring(std::uint64_t seed) : graph(draw(seed)) {
    auto owned = std::make_unique<FailingBackend>(kDevices);
    backend = owned.get();
    CalibrateOptions options;
    options.source = "here";
    measurer = calibrate(std::move(owned), graph, {requests_for(graph), kSizes}, options);
  }

  static Graph draw(std::uint64_t seed) {
    Random random(seed);
    return strata::testing::random_graph(random);
  }
};

// A sweep that makes its kernels is run once more, so that no sample has that in it.
TEST(Calibration, EveryDeviceRunsEveryRound) {
  const Measuring measuring(1);
  measuring.measurer->round(nullptr);
  const std::int64_t first = measuring.backend->kernels_run();
  measuring.measurer->round(nullptr);
  const std::int64_t second = measuring.backend->kernels_run() - first;
  EXPECT_GT(second, 0);
  EXPECT_EQ(second % static_cast<std::int64_t>(kDevices), 0);
  EXPECT_GT(first, second);
  measuring.measurer->round(nullptr);
  EXPECT_EQ(measuring.backend->kernels_run(), first + 2 * second);
}

// Each half of a product's terms, of which the kernel is given no more.
TEST(Calibration, RunsShardsOfCutReductions) {
  for (const char* model : {"lenet5", "gpt:layers=1,hidden=16,heads=4,seq=8,vocab=32"}) {
    SCOPED_TRACE(model);
    const Graph graph = build_zoo(model, 4);
    const std::vector<bool> needs_gradient = requires_gradient(graph);
    MeasureList list;
    std::map<CostKey, bool> wanted;
    for (std::size_t i = 0; i < graph.size(); ++i) {
      const Layer& layer = graph[LayerId(i)];
      if (layer.reduction < 2) continue;
      Degrees degrees = kWhole;
      degrees.r = 2;
      const PhaseSet phases = step_phases(graph, LayerId(i), needs_gradient);
      for (std::size_t p = 0; p < kKernelPhases; ++p) {
        const auto phase = static_cast<Phase>(p);
        for (std::int64_t half = 0; half < 2 && phases[phase]; ++half) {
          const Tile shard = partition(layer, degrees).tile(half);
          list.shards.push_back({LayerId(i), shard, phase});
          wanted[cost_key(graph, LayerId(i), shard, DType::fp32, phase)] = true;
        }
      }
    }
    CalibrateOptions options;
    options.source = "here";
    const auto measurer =
        calibrate(std::make_unique<FailingBackend>(kDevices), graph, list, options);
    for (std::size_t round = 0; round < kRounds; ++round) measurer->round(nullptr);
    EXPECT_EQ(measurer->costs(Sampled::always).size(), wanted.size());
  }
}

// Layers of one shape share a row.
TEST(Calibration, SamplesEveryShapeOnEveryDeviceInEveryRound) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    const Measuring measuring(seed);
    for (std::size_t round = 0; round < kRounds; ++round) measuring.measurer->round(nullptr);

    std::map<CostKey, bool> wanted;
    for (const MeasureRequest& r : requests_for(measuring.graph)) {
      wanted[cost_key(measuring.graph, r.layer, r.output, DType::fp32, r.phase)] = true;
    }
    const std::vector<MeasuredCost> rows = measuring.measurer->costs(Sampled::calm);
    EXPECT_EQ(rows.size(), wanted.size());
    for (const MeasuredCost& row : rows) {
      EXPECT_TRUE(wanted.contains(row.key)) << row.key.signature;
      EXPECT_GE(row.seconds.value, 0);
      EXPECT_GE(row.count, std::int64_t{3});  // all of them, or those that were calm
      EXPECT_EQ(row.source, "here");
    }
    for (const MeasuredMove& move : measuring.measurer->moves()) {
      EXPECT_THAT(kSizes, ::testing::Contains(move.bytes));
      EXPECT_GT(move.seconds.value, 0);
    }
    EXPECT_EQ(measuring.measurer->moves().size(), 3 * kSizes.size());
    const std::size_t sweeps = measuring.measurer->disturbance().of;
    EXPECT_GT(sweeps, 0U);
    EXPECT_EQ(sweeps % (kDevices * kRounds), 0U);
  }
}

// What each rule keeps is there for its updates; the rows say whose they are.
TEST(Calibration, MeasuresTheUpdatesOfTheOptimizerAsked) {
  const Graph graph = build_zoo("lenet5", 4);
  for (std::size_t rule = 0; rule < kOptimizers.size(); ++rule) {
    const auto optimizer = static_cast<Optimizer>(rule);
    SCOPED_TRACE(name(optimizer));
    MeasureList list{requests_for(graph), {}};
    list.optimizer = optimizer;
    const auto measurer = calibrate(std::make_unique<FailingBackend>(1), graph, list, {});
    measurer->round(nullptr);
    std::size_t updates = 0;
    for (const MeasuredCost& row : measurer->costs(Sampled::always)) {
      const bool update = row.key.phase == Phase::update;
      EXPECT_EQ(row.key.optimizer, update ? optimizer : Optimizer::sgd);
      updates += update ? 1 : 0;
    }
    EXPECT_GT(updates, 0U);
  }
}

// Requests that share a shape and a layer have one time.
TEST(Calibration, TellsWhatEachDeviceTookInTheLastRound) {
  const Measuring measuring(3);
  const std::size_t shards = requests_for(measuring.graph).size();
  for (int round = 0; round < 2; ++round) {
    measuring.measurer->round(nullptr);
    const RoundTimes times = measuring.measurer->last_round();
    ASSERT_EQ(times.size(), kDevices);
    std::size_t waits = 0;
    for (const DeviceRound& device : times) {
      ASSERT_EQ(device.shards.size(), shards);
      for (Seconds time : device.shards) EXPECT_GE(time.value, 0);
      waits += device.waits.size();
    }
    EXPECT_GT(waits, 0U);
  }
}

// The other devices wait at a barrier for the one that failed.
TEST(Calibration, AnErrorOnOneDeviceEndsTheRoundOnAll) {
  const Measuring whole(1);
  whole.measurer->round(nullptr);
  const std::int64_t runs = whole.backend->kernels_run();
  ASSERT_GT(runs, 0);
  for (std::int64_t at = 0; at < runs; at += 1 + runs / 7) {
    SCOPED_TRACE(at);
    const Measuring measuring(1);
    measuring.backend->at_kernel(at, [] { throw std::runtime_error("no more"); });
    EXPECT_THROW(measuring.measurer->round(nullptr), std::runtime_error);
  }
}

// No device begins another layer.
TEST(Calibration, CanBeCalledOffWithinASweep) {
  const Measuring measuring(1);
  std::atomic<bool> cancelled = false;
  measuring.backend->at_kernel(0, [&] { cancelled = true; });
  EXPECT_THROW(measuring.measurer->round(&cancelled), Cancelled);
  EXPECT_LE(measuring.backend->kernels_run(), static_cast<std::int64_t>(kDevices));
}

}  // namespace
}  // namespace strata
