// The same case trained otherwise: by another schedule, in more rounds, computing again what it
// kept, with another optimizer, sharing what replicas have.

#include <algorithm>

#include <fmt/format.h>

#include "sim/case/rounds.h"
#include "tests/metamorphic/anomaly.h"
#include "tests/metamorphic/relation.h"

namespace strata::testing {
namespace {

/// Forward and backward passes of every device, to the rounding of sums. Who updates is another
/// matter: a server does so for all.
void expect_same_passes(Trial& trial, const Answer& other, std::string_view what) {
  const auto mine = device_work(trial.input(), trial.found()),
             others = device_work(other.input, other.found);
  for (std::size_t d = 0; d < mine.size(); ++d) {
    const DeviceWork &a = mine[d], &b = others[d];
    trial.expect_near(a.compute.value, b.compute.value, fmt::format("computing {}", what), 1e-6);
    trial.expect_near(a.recompute.value, b.recompute.value, fmt::format("computing again {}", what),
                      1e-6);
  }
}

// A framework may say what is computed again, and what is gathered. What is gathered again for
// recomputation may come earlier than what is gathered for gradients.
void recomputation_is_not_faster(Trial& trial) {
  if (trial.is("recompute", "full") || trial.drawn.value("strategy").ends_with(".json")) return;
  trial.applies();
  const Answer again = trial.with({{"recompute", "full"}});
  trial.expect_not_faster(again.found.step, trial.step(), "with `recompute` full",
                          kMostOfAnomalies);
  const auto kept = device_work(trial.input(), trial.found()),
             twice = device_work(again.input, again.found);
  for (std::size_t d = 0; d < trial.devices(); ++d) {
    const Seconds more = twice[d].total(), less = kept[d].total();
    trial.expect(more.value >= less.value * (1 - 1e-6), [&] {
      return fmt::format("device {} computes {} s, {} s with `recompute` full", d, less.value,
                         more.value);
    });
  }
}

void one_round_is_as_none(Trial& trial) {
  if (!trial.drawn.value("micro_batch").empty() || !trial.is("schedule", "")) return;
  const std::int64_t groups = data_parallel_groups(trial.input().graph, trial.base.strategy);
  const std::int64_t batch = trial.input().batch();
  if (batch % groups != 0) return;
  trial.applies();
  const Prediction found = trial.with({{"micro_batch", fmt::format("{}", batch / groups)}}).found;
  trial.expect_equal(found.step, trial.step(), "steps with one micro-batch and without");
  trial.expect_equal(found.peak_memory, trial.found().peak_memory,
                     "peaks with one micro-batch and without");
  trial.expect_equal(found.communication, trial.found().communication,
                     "bytes with one micro-batch and without");
}

// Rounds that are cut alike: computing and transfers double, sums and updates stay.
void twice_the_rounds_compute_twice(Trial& trial) {
  if (trial.drawn.value("micro_batch").empty() || trial.drawn.value("batch").empty()) return;
  const std::uint32_t rounds = trial.cut().rounds;
  trial.applies();
  const Answer twice = trial.with({{"batch", fmt::format("{}", 2 * trial.input().batch())}});
  const Communication &a = trial.found().communication, &b = twice.found.communication;
  trial.expect_equal(twice.found.rounds, 2 * rounds, "rounds of twice the batch");
  trial.expect_equal(b.transfer, 2 * a.transfer, "transfers of twice the batch");
  if (trial.cut().sync.zero <= Zero::state) {
    trial.expect_equal(b.sync, a.sync, "sums of twice the batch");
  }
  const auto once = device_work(trial.input(), trial.found()),
             more = device_work(twice.input, twice.found);
  for (std::size_t d = 0; d < trial.devices(); ++d) {
    const DeviceWork &one = once[d], &two = more[d];
    trial.expect_near(2 * one.compute.value, two.compute.value, "computing twice the batch", 1e-6);
    trial.expect_near(2 * one.recompute.value, two.recompute.value,
                      "computing again twice the batch", 1e-6);
    trial.expect_near(one.optimizer.value, two.optimizer.value, "updates of twice the batch", 1e-6);
  }
}

void schedules_do_the_same_work(Trial& trial) {
  if (trial.cut().rounds == 1) return;
  trial.applies();
  const Answer other = trial.with({{"schedule", "gpipe"}});
  trial.expect_equal(other.found.communication.transfer, trial.found().communication.transfer,
                     "transfers under gpipe and another schedule");
  expect_same_passes(trial, other, "under gpipe and another schedule");
}

bool has_copies_of_weights(const Graph& graph) {
  return std::any_of(graph.layers().begin(), graph.layers().end(),
                     [](const Layer& layer) { return layer.weight_of.valid(); });
}

// docs/model.md: of (N - 1) P bytes 2 without sharing, 2 with state shared, R + 1 with gradients
// shared and 3 R with parameters shared, in R rounds; where parameters and gradients have one type.
void sharing_moves_what_its_formula_says(Trial& trial) {
  const Case& cut = trial.cut();
  const bool one_type = cut.dtypes.gradients == cut.dtypes.parameters;
  if (!cut.sync.shares() || cut.sync.zero_group > 0 || !one_type ||
      has_copies_of_weights(cut.graph))
    return;
  if (!trial.is("as", "") || !trial.is("strategy", "data") || !trial.is("train", "")) return;
  trial.applies();
  const std::int64_t apart =
      trial.with({{"zero", "0"}, {"zero_group", ""}}).found.communication.sync.value;
  const std::int64_t rounds = cut.rounds;
  const std::int64_t times = cut.sync.zero == Zero::state       ? 2
                             : cut.sync.zero == Zero::gradients ? rounds + 1
                                                                : 3 * rounds;
  // A layer's values begin at multiples of four.
  const std::int64_t tensors = 2 * static_cast<std::int64_t>(cut.graph.size()),
                     most = 3 * tensors * element_bytes(cut.dtypes.gradients),
                     groups = static_cast<std::int64_t>(trial.devices()) - 1;
  const std::int64_t twice = 2 * trial.found().communication.sync.value;
  trial.expect(twice >= times * apart && twice <= times * (apart + 2 * groups * most), [&] {
    return fmt::format("sharing moves {} bytes, {} by the formula", twice / 2, times * apart / 2);
  });
}

// Replicas that share the optimizer's state update a part each, of equal work on equal devices.
void sharing_updates_all_once(Trial& trial) {
  const Case& cut = trial.cut();
  if (!cut.sync.shares() || cut.sync.zero_group > 0 || !trial.is("strategy", "data") ||
      !trial.is("as", "")) {
    return;
  }
  const Answer apart = trial.with({{"zero", "0"}, {"zero_group", ""}});
  const auto parts = device_work(trial.input(), trial.found()),
             whole = device_work(apart.input, apart.found);
  const auto same = [&](const DeviceWork& other) {
    return std::abs((other.optimizer - whole.front().optimizer).value) <=
           1e-6 * whole.front().optimizer.value;
  };
  if (!std::ranges::all_of(whole, same)) return;
  trial.applies();
  Seconds sum;
  for (const DeviceWork& part : parts) sum += part.optimizer;
  // Of few values some devices have one more than others, of units of four.
  constexpr double kMostOfRounding = 0.3;
  trial.expect_near(sum.value, whole.front().optimizer.value, "updates shared and apart",
                    kMostOfRounding);
}

void optimizers_communicate_alike(Trial& trial) {
  if (trial.is("optimizer", "adam") || trial.base.request().training.optimizer == Optimizer::adam)
    return;
  trial.applies();
  const Prediction adam = trial.with({{"optimizer", "adam"}}).found;
  trial.expect_equal(adam.communication, trial.found().communication, "bytes with adam");
  // Servers and hosts whose updates take longer keep other sums at once.
  if (trial.cut().sync.may_serve() || trial.cut().sync.updates_on_host()) return;
  for (std::size_t d = 0; d < trial.devices(); ++d) {
    trial.expect(adam.peak_memory[d] >= trial.found().peak_memory[d], [&] {
      return fmt::format("device {} has a peak of {} bytes with adam, {} without", d,
                         adam.peak_memory[d].value, trial.found().peak_memory[d].value);
    });
  }
}

// Who sums, and how much at once, is another matter than what.
void sums_move_the_same_bytes(Trial& trial) {
  const Case& cut = trial.cut();
  // A server sends parameters back.
  if (cut.sync.shares() || cut.dtypes.gradients != cut.dtypes.parameters) return;
  trial.applies();
  static constexpr std::string_view kOthers[] = {"ps", "ring", "tree", "hierarchical", "auto"};
  const Answer other =
      trial.with({{"sync", std::string(kOthers[trial.random() % std::size(kOthers)])},
                  {"bucket", fmt::format("{}", pick(trial.random, 0, 100'000))}});
  trial.expect_equal(other.found.communication, trial.found().communication,
                     "bytes of sums made otherwise");
  expect_same_passes(trial, other, "with sums made otherwise");
}

constexpr Relation kTrainingRelations[] = {
    {"recomputation is not faster", recomputation_is_not_faster, 2, true},
    {"one round is as none", one_round_is_as_none, 1, true},
    {"twice the rounds compute twice", twice_the_rounds_compute_twice, 3, true},
    {"schedules do the same work", schedules_do_the_same_work, 2, true},
    {"sharing moves what its formula says", sharing_moves_what_its_formula_says, 1, true},
    {"sharing updates all once", sharing_updates_all_once, 1, true},
    {"optimizers communicate alike", optimizers_communicate_alike, 2, true},
    {"sums move the same bytes", sums_move_the_same_bytes, 2, true},
};

}  // namespace

std::span<const Relation> training_relations() {
  return kTrainingRelations;
}

}  // namespace strata::testing
