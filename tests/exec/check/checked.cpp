#include "tests/exec/check/checked.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

#include <fmt/format.h>

#include "exec/machine/executor_run.h"
#include "exec/runtime/executor.h"
#include "sim/cluster/cpu_cluster.h"
#include "sim/graph/regions.h"
#include "sim/plan/lower.h"
#include "sim/train/dataset.h"
#include "sim/train/evaluate.h"

namespace strata::testing {
namespace {

constexpr std::uint64_t kSeed = 3;
constexpr float kRate = 0.01F;

bool is_cut(const Graph& graph, const Plan& plan) {
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (plan.placement(LayerId(i)).devices.size() > 1) return true;
  }
  return false;
}

class CheckedRunner : public Runner {
 public:
  explicit CheckedRunner(const CheckedCase& checked) : checked_(checked) {}

  Cluster cluster(const std::string&) const override { return cpu_cluster(checked_.devices); }
  std::unique_ptr<PlanRun> start(const std::string&, const Graph& graph, const Plan& plan,
                                 const ExecutionOptions& options) override {
    const auto make = [&](Backend& backend) { return Executor(graph, plan, backend, options); };
    const Planted planted = is_cut(graph, plan) ? checked_.planted : Planted{};
    return std::make_unique<ExecutorRun<Executor>>(
        std::make_unique<PlantedBackend>(static_cast<std::size_t>(checked_.devices), planted),
        make);
  }
  std::unique_ptr<Measurer> measure(const std::string&, const Graph&, MeasureList) override {
    return nullptr;
  }
  std::string description(const std::string&) const override { return "cores"; }

 private:
  const CheckedCase& checked_;
};

// What it takes to train a case.
struct Trainer {
  const CheckedCase& checked;
  std::string devices = "cores";
  CheckedRunner runner{checked};
  Plan plan = lowered(checked.strategy), alone = lowered(on_one_device(checked.graph));
  NetworkWeights weights = initial_weights(checked.graph, kSeed);
  Dataset data =
      synthetic_dataset(checked.graph.with_batch(checked.rounds * checked.graph.batch()), kSeed);

  Plan lowered(const Strategy& strategy) const {
    LowerOptions lowering;
    lowering.sync = checked.sync;
    lowering.rounds = checked.rounds;
    return lower(checked.graph, cpu_cluster(checked.devices), strategy, lowering);
  }
  ExecutionOptions execution() const {
    ExecutionOptions options;
    options.learning_rate = kRate;
    options.seed = kSeed;
    options.keep_gradients = true;
    return options;
  }
  BatchOf batch_of() const {
    return [this](std::uint64_t step) { return data.batch(step); };
  }
  LayerCheck layers(const LayerProgress& progress = {}) {
    return check_layers({runner, devices, checked.graph, plan, alone, execution(), weights,
                         batch_of(), checked.sync.shares()},
                        nullptr, progress);
  }
  Trained train(const Plan& trained, const NetworkWeights& from, std::size_t steps) {
    const auto run = start(runner, devices, checked.graph, trained, execution(), from);
    Trained result;
    result.trained.losses = run->run(steps, batch_of(), nullptr).losses;
    for (std::size_t i = 0; i < checked.graph.size(); ++i) {
      result.weights.push_back(run->parameters(LayerId(i)));
      result.gradients.push_back(run->gradients(LayerId(i)));
    }
    return result;
  }
};

}  // namespace

bool whole_networks() {
  const char* asked = std::getenv("STRATA_CHECK_ZOO");
  return asked != nullptr && std::string_view(asked) == "full";
}

LayerCheck checked_layers(const CheckedCase& checked, const LayerProgress& progress) {
  return Trainer{checked}.layers(progress);
}

Check checked(const CheckedCase& checked, std::size_t steps) {
  Trainer trainer{checked};
  Check check = compare(checked.graph, trainer.train(trainer.plan, trainer.weights, steps),
                        trainer.weights, {}, [&](const NetworkWeights& from, std::string_view) {
                          return trainer.train(trainer.alone, from, steps);
                        });
  check.layers = trainer.layers();
  return check;
}

Strategy row_parallel(const Graph& graph, int devices) {
  std::vector<Config> configs;
  for (const Layer& layer : graph.layers()) {
    Degrees degrees = kWhole;
    const Extents most = most_parts(layer);
    const Dim cut = most[Dim::h] >= devices ? Dim::h : Dim::n;
    degrees[cut] = static_cast<std::int32_t>(std::min<std::int64_t>(devices, most[cut]));
    configs.push_back(config_on_first_devices(degrees));
  }
  return {"rows", std::move(configs)};
}

std::string failures(const LayerCheck& check) {
  std::string text = check.skipped;
  for (const TensorDifference& d : check.beyond) {
    text += fmt::format("step {}: {} of {}, shard {}: {:.2e}, allowed {:.2e}\n", d.step, d.what,
                        d.layer, d.shard, d.value, d.allowed);
  }
  return text;
}

std::string failures(const Check& check) {
  std::string text = failures(check.layers);
  if (check.near()) return text;
  const Differences& d = check.differences;
  const Allowance most = check.allowed();
  return text + fmt::format(
                    "loss {:.2e} of {:.2e}, gradients {:.2e} of {:.2e} ({}), weights "
                    "{:.2e} of {:.2e} ({})\n",
                    d.loss, most.loss, d.gradients.value, most.gradients, d.gradients.layer,
                    d.weights.value, most.weights, d.weights.layer);
}

}  // namespace strata::testing
