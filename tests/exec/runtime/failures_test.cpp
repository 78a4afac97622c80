// What goes wrong on a device ends the run, on every device, with an error that says what was being
// done where; and nothing is lost by it: all memory is given back.

#include <limits>
#include <new>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exec/runtime/executor.h"
#include "sim/base/cancel.h"
#include "sim/cluster/cpu_cluster.h"
#include "sim/plan/lower.h"
#include "tests/exec/reference/reference.h"
#include "tests/exec/runtime/failing_backend.h"
#include "tests/sim/plan/random_case.h"

namespace strata {
namespace {

using strata::testing::FailingBackend;
using strata::testing::Random;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

constexpr std::size_t kStepsToFail = 3;

// A network on its devices, with its weights, and one batch for every step.
struct Trial {
  Graph graph;
  Plan plan;
  reference::Batch drawn;
  std::vector<std::vector<float>> inputs;
  FailingBackend backend;
  std::vector<std::vector<float>> weights;
  const std::atomic<bool>* cancelled = nullptr;

  Trial(Graph g, const Strategy& strategy, int devices, Random& random)
      : graph(std::move(g)),
        plan(lower(graph, cpu_cluster(devices), strategy)),
        drawn(reference::random_batch(graph, random)),
        backend(static_cast<std::size_t>(devices)) {
    for (const auto& input : drawn.inputs) {
      inputs.emplace_back(input.values.begin(), input.values.end());
    }
    for (const reference::Weights& layer : reference::random_weights(graph, random)) {
      weights.emplace_back(layer.weight.begin(), layer.weight.end());
      weights.back().insert(weights.back().end(), layer.bias.begin(), layer.bias.end());
    }
  }

  void run(std::size_t steps) {
    Executor executor(graph, plan, backend);
    for (std::size_t i = 0; i < graph.size(); ++i) executor.set_parameters(LayerId(i), weights[i]);
    Batch batch;
    for (const auto& input : inputs) batch.inputs.emplace_back(input);
    batch.labels = drawn.labels;
    executor.run(
        steps, [&](std::uint64_t) { return batch; }, cancelled);
  }

  /// The exit code and the message of the error that ends a run.
  std::pair<int, std::string> error() {
    try {
      run(kStepsToFail);
    } catch (const Error& error) {
      return {error.exit_code(), error.what()};
    }
    return {0, "no error"};
  }
};

Trial random_trial(Random& random) {
  const auto devices = static_cast<int>(strata::testing::pick(random, 1, 4));
  Graph graph = strata::testing::random_graph(random);
  const Strategy strategy =
      strata::testing::random_strategy(random, graph, static_cast<std::size_t>(devices));
  return {std::move(graph), strategy, devices, random};
}

struct Fault {
  std::function<void()> happens;
  int exit_code;
  std::string message;
};

const std::vector<Fault>& faults() {
  static const std::vector<Fault> kFaults = {
      {[] { throw InternalError("wrong phase"); }, 1, "wrong phase"},
      {[] { throw EnvironmentError("the device is gone"); }, 3, "the device is gone"},
      {[] { throw std::runtime_error("a library's error"); }, 1, "a library's error"},
      {[] { throw std::bad_alloc(); }, 3, "out of memory"},
      {[] { throw 42; }, 1, "an error of an unknown kind"}};
  return kFaults;
}

class Failures : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  Failures() : random_(GetParam()) {}
  const Fault& any_fault() { return faults()[random_() % faults().size()]; }
  std::int64_t before(std::int64_t end) { return strata::testing::pick(random_, 0, end - 1); }

  Random random_;
};

TEST_P(Failures, OfKernelsNameTheirTask) {
  Trial trial = random_trial(random_);
  trial.run(kStepsToFail);
  const std::int64_t runs = trial.backend.kernels_run();
  const Fault& fault = any_fault();
  trial.backend.at_kernel(runs + before(runs), fault.happens);
  const auto [code, message] = trial.error();
  EXPECT_EQ(code, fault.exit_code);
  EXPECT_THAT(message, MatchesRegex(trial.backend.where() + " [0-9]+ on " + trial.backend.on() +
                                    ": " + fault.message));
  EXPECT_EQ(trial.backend.pieces_held(), 0);
}

TEST_P(Failures, OfMemoryNameTheTaskThatAskedForIt) {
  Trial trial = random_trial(random_);
  { const Executor parameters(trial.graph, trial.plan, trial.backend); }
  const std::int64_t lasting = trial.backend.allocations();
  trial.run(kStepsToFail);
  const std::int64_t asked = trial.backend.allocations() - lasting;
  trial.backend.at_allocation(lasting + asked + before(asked), [] { throw std::bad_alloc(); });
  try {
    trial.run(kStepsToFail);
    ADD_FAILURE() << "no error";
  } catch (const std::bad_alloc&) {  // of the parameters, before there is a task
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 3);
    EXPECT_THAT(error.what(), MatchesRegex("step [0-2]: layer .*: .*, .*shard [0-9]+ on cpu[0-3]: "
                                           "out of memory"));
  }
  EXPECT_EQ(trial.backend.pieces_held(), 0);
}

// Each device may end the task that it is at. Others go on between the count and the call, so what
// counts is how many had begun once the work was called off.
TEST_P(Failures, WorkThatIsCalledOffStopsAtOnce) {
  Trial trial = random_trial(random_);
  std::atomic<bool> cancelled = false;
  trial.cancelled = &cancelled;
  trial.run(1);
  const std::int64_t runs = trial.backend.kernels_run();
  std::int64_t begun = 0;
  trial.backend.at_kernel(runs + before(runs), [&] {
    cancelled = true;
    begun = trial.backend.kernels_run();
  });
  EXPECT_THROW(trial.run(200), Cancelled);
  EXPECT_LE(trial.backend.kernels_run(),
            begun + static_cast<std::int64_t>(trial.backend.device_count()));
  EXPECT_EQ(trial.backend.pieces_held(), 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Failures, ::testing::Range<std::uint64_t>(0, 60));

// data (4, 3) -> fc1 -> fc2 -> loss, each of 4 features, halved in c: shard s on device s.
Trial two_layers() {
  GraphBuilder builder("two", 4);
  LayerId last = builder.add("data", Input{{{1, 3, 1, 1, 1}}}, {});
  last = builder.add("fc1", FullyConnected{4}, {last});
  last = builder.add("fc2", FullyConnected{4}, {last});
  builder.add("loss", SoftmaxCrossEntropy{}, {last});
  Graph graph = std::move(builder).build();
  Degrees halves = kWhole;
  halves[Dim::c] = 2;
  std::vector<Config> configs(4, config_on_first_devices(halves));
  configs[3] = config_on_first_devices(kWhole);
  Random random(1);
  return {std::move(graph), Strategy("halves", configs), 2, random};
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
const std::string kLoss = "step 0: layer loss: forward, shard 0 on cpu0: the loss is -?nan";

TEST(LossThatIsNoNumber, BeganInParameters) {
  Trial trial = two_layers();
  trial.weights[1][6] = kNan;  // channel 2 of 4, of 3 weights each
  const auto [code, message] = trial.error();
  EXPECT_EQ(code, 1);
  EXPECT_THAT(message, MatchesRegex(kLoss + "; first not finite: the parameters of layer fc1, "
                                            "shard 1 on cpu1"));
}

TEST(LossThatIsNoNumber, BeganInData) {
  Trial trial = two_layers();
  trial.inputs[0][0] = kInfinity;
  const auto [code, message] = trial.error();
  EXPECT_EQ(code, 1);
  EXPECT_THAT(message, HasSubstr("; first not finite: the data of layer fc1, shard 0 on cpu0"));
}

// Products of 1e30 are too large for a float where two layers multiply.
TEST(LossThatIsNoNumber, BeganInAnOutput) {
  Trial trial = two_layers();
  for (float& x : trial.inputs[0]) x = 1;
  for (std::size_t layer : {1, 2}) {
    for (float& w : trial.weights[layer]) w = 1e30F;
  }
  const auto [code, message] = trial.error();
  EXPECT_EQ(code, 1);
  // fc2's own output was given back when the loss had gathered it.
  EXPECT_THAT(message,
              HasSubstr("; first not finite: the gathered input of layer loss, shard 0 on cpu0"));
}

}  // namespace
}  // namespace strata
