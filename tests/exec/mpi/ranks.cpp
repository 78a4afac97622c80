// One rank of several; ranks_test.py starts it. `same FIRST LAST`: random networks, cut at random,
// give the losses, gradients and weights of one process, to the bit; `again`: so does a transformer
// whose blocks are computed again. `killed`, `stuck`: what becomes of the others when rank 1 dies
// or never comes back. Exit code 0, or what went wrong.

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "exec/cpu/cpu_backend.h"
#include "exec/mpi/rank_executor.h"
#include "exec/runtime/executor.h"
#include "sim/base/error.h"
#include "sim/cluster/cpu_cluster.h"
#include "sim/graph/zoo.h"
#include "sim/plan/lower.h"
#include "sim/strategy/hybrid.h"
#include "sim/strategy/recomputation.h"
#include "tests/exec/reference/reference.h"
#include "tests/sim/plan/random_case.h"

namespace strata {
namespace {

using strata::testing::Random;

constexpr std::size_t kSteps = 3;

struct Case {
  Graph graph;
  std::vector<std::vector<float>> weights, inputs;
  std::vector<std::int64_t> labels;

  // Batches have so many rounds.
  Case(Random& random, std::uint32_t rounds)
      : Case(strata::testing::random_graph(random), random, rounds) {}
  Case(Graph of, Random& random, std::uint32_t rounds) : graph(std::move(of)) {
    for (const auto& w : reference::random_weights(graph, random)) {
      weights.emplace_back(w.weight.begin(), w.weight.end());
      weights.back().insert(weights.back().end(), w.bias.begin(), w.bias.end());
    }
    const reference::Batch batch =
        reference::random_batch(graph.with_batch(rounds * graph.batch()), random);
    for (const auto& input : batch.inputs) {
      inputs.emplace_back(input.values.begin(), input.values.end());
    }
    labels = batch.labels;
  }

  Batch data(std::uint64_t) const {
    Batch data;
    for (const auto& input : inputs) data.inputs.emplace_back(input);
    data.labels = labels;
    return data;
  }
};

struct Outcome {
  std::vector<double> losses;
  std::vector<std::int64_t> correct;
  std::vector<std::vector<float>> gradients, weights;
  Communication moved;
  bool operator==(const Outcome&) const = default;
};

// Two runs in a row, so that steps go on from the ones before.
template <class AnExecutor>
Outcome run(AnExecutor& executor, const Case& c) {
  for (std::size_t i = 0; i < c.graph.size(); ++i) {
    executor.set_parameters(LayerId(i), c.weights[i]);
  }
  Outcome outcome;
  for (std::size_t steps : {kSteps, std::size_t{1}}) {
    const Execution done = executor.run(
        steps, [&](std::uint64_t step) { return c.data(step); }, nullptr);
    outcome.losses.insert(outcome.losses.end(), done.losses.begin(), done.losses.end());
    outcome.correct.insert(outcome.correct.end(), done.correct.begin(), done.correct.end());
    outcome.moved = done.moved;
  }
  for (std::size_t i = 0; i < c.graph.size(); ++i) {
    outcome.gradients.push_back(executor.gradients(LayerId(i)));
    outcome.weights.push_back(executor.parameters(LayerId(i)));
  }
  return outcome;
}

ExecutionOptions options_of(bool training) {
  ExecutionOptions options;
  options.learning_rate = 0.02F;
  options.seed = 7;
  options.training = training;
  options.keep_gradients = training;
  return options;
}

bool same(const mpi::World& world, const Case& c, const Plan& plan, bool training) {
  const ExecutionOptions options = options_of(training);
  cpu::CpuBackend alone(world.size()), shared(world.size());
  Executor one(c.graph, plan, alone, options);
  mpi::RankExecutor ranks(world, c.graph, plan, shared, options);
  return run(ranks, c) == run(one, c);
}

int compare(const mpi::World& world, std::uint64_t first, std::uint64_t last) {
  const Cluster cluster = cpu_cluster(static_cast<int>(world.size()));
  for (std::uint64_t seed = first; seed < last; ++seed) {
    Random random(seed);
    const auto rounds = static_cast<std::uint32_t>(1 + seed % 3);
    const Case c(random, rounds);
    for (const GradientSync& sync :
         {GradientSync(SyncAlgorithm::ring), GradientSync(SyncAlgorithm::ring, {1024}),
          GradientSync(SyncAlgorithm::ps), GradientSync(SyncAlgorithm::ring, {}, Zero::state),
          GradientSync(SyncAlgorithm::ring, {1024}, Zero::gradients),
          GradientSync(SyncAlgorithm::ring, {1024}, Zero::parameters),
          GradientSync(SyncAlgorithm::ring, {1024}, Zero::state, 2),
          GradientSync(SyncAlgorithm::ring, {}, Zero::parameters, 2)}) {
      LowerOptions options;
      options.sync = sync;
      options.rounds = rounds;
      const Strategy strategy = strata::testing::random_strategy(random, c.graph, world.size());
      const Plan plan = lower(c.graph, cluster, strategy, options);
      for (bool training : {true, false}) {
        if (same(world, c, plan, training)) continue;
        fmt::print(stderr, "rank {}: seed {}, {}, training {}: not what one process computes\n",
                   world.rank(), seed, name(sync.algorithm), training);
        return 1;
      }
    }
  }
  return 0;
}

// What a segment reads of another rank is sent once its gradients have come: joins, which no rank
// does, stand between.
int compute_again(const mpi::World& world) {
  Random random(1);
  const Case c(build_zoo("llama:layers=2,hidden=32,heads=4,kv_heads=2,ffn=48,seq=12,vocab=50", 2),
               random, 2);
  const auto devices = static_cast<int>(world.size());
  const Strategy strategy = hybrid_parallel(c.graph, devices, "hybrid:tp=2,pp=2")
                                .with(segments(c.graph, Recompute::full, {}));
  LowerOptions options;
  options.rounds = 2;
  const Plan plan = lower(c.graph, cpu_cluster(devices), strategy, options);
  const auto is_join = [](const Task& task) { return task.kind == TaskKind::join; };
  if (std::none_of(plan.tasks().begin(), plan.tasks().end(), is_join)) return 1;
  return same(world, c, plan, true) ? 0 : 1;
}

// A device that dies, or whose driver never answers.
class Lost : public cpu::CpuBackend {
 public:
  Lost(std::size_t devices, bool dies) : CpuBackend(devices), dies_(dies) {}
  void enter(DeviceId device) override {
    CpuBackend::enter(device);
    if (device() != 1) return;
    if (dies_) raise(SIGKILL);
    while (true) pause();
  }

 private:
  bool dies_;
};

void run_with_lost(const mpi::World& world, bool dies) {
  Random random(3);
  const Case c(random, 1);
  const Strategy strategy = strata::testing::random_strategy(random, c.graph, world.size());
  const Plan plan = lower(c.graph, cpu_cluster(static_cast<int>(world.size())), strategy, {});
  Lost backend(world.size(), dies);
  mpi::RankExecutor ranks(world, c.graph, plan, backend, {}, dies ? mpi::kPatience : Seconds{0.2});
  run(ranks, c);
}

// Rank 1 starts from zeros.
void gather_different(const mpi::World& world) {
  Random random(3);
  const Case c(random, 1);
  const Strategy strategy = data_parallel(c.graph, static_cast<int>(world.size()));
  const Plan plan = lower(c.graph, cpu_cluster(static_cast<int>(world.size())), strategy, {});
  cpu::CpuBackend backend(world.size());
  mpi::RankExecutor ranks(world, c.graph, plan, backend);
  for (std::size_t i = 0; i < c.graph.size(); ++i) {
    std::vector<float> values(static_cast<std::size_t>(c.graph[LayerId(i)].parameters.total()),
                              world.rank() == 0 ? 1.0F : 0.0F);
    ranks.set_parameters(LayerId(i), values);
  }
  for (std::size_t i = 0; i < c.graph.size(); ++i) ranks.parameters(LayerId(i));
}

// mpirun of these tests starts all ranks on one host.
int find_places(const mpi::World& world) {
  for (std::size_t rank = 0; rank < world.size(); ++rank) {
    if (world.places()[rank] == RankPlace{0, rank}) continue;
    fmt::print(stderr, "rank {} is at host {}, place {}\n", rank, world.places()[rank].host,
               world.places()[rank].local);
    return 1;
  }
  return 0;
}

int work(const mpi::World& world, int argc, char** argv) try {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "same" && argc > 3) {
    return compare(world, std::stoull(argv[2]), std::stoull(argv[3]));
  }
  if (what == "again") return compute_again(world);
  if (what == "places") return find_places(world);
  if (what == "different") {
    gather_different(world);
    return 0;
  }
  run_with_lost(world, what == "killed");
  return 0;
} catch (const Error& error) {
  fmt::print(stderr, "rank {}: {}\n", world.rank(), error.message());
  return error.exit_code();
}

}  // namespace
}  // namespace strata

int main(int argc, char** argv) {
  const strata::mpi::World world;
  const int exit_code = strata::work(world, argc, argv);
  if (exit_code != 0) world.abort(exit_code);
  return 0;
}
