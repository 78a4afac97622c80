// Screening must never lose the optimum: on random networks over many hosts, the best strategy of
// what is left costs no more than the best of all.

#include "sim/solver/screen.h"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "sim/cluster/presets.h"
#include "sim/profile/profile.h"
#include "sim/solver/solve.h"
#include "tests/sim/plan/random_case.h"

namespace strata {
namespace {

using testing::Random;

struct ScreenedCase {
  Graph graph;
  Cluster cluster;
  std::unique_ptr<CostModel> model = make_cost_model(load_profile("p100"));
  std::vector<const CostModel*> models =
      std::vector<const CostModel*>(cluster.device_count(), model.get());
  SearchSpace space{graph, cluster};

  BuildTables builder() const {
    return [this](const SearchSpace& part, TableDetail detail) {
      return build_cost_tables(graph, cluster, models, SyncAlgorithm::ring, {.dtypes = DType::fp32},
                               part, {0, nullptr, detail});
    };
  }
  double rounding(const CostTables& tables) const {
    return tables.quantum * static_cast<double>(tables.variables.size() + tables.edges.size());
  }
};

TEST(Screen, KeepsTheOptimum) {
  std::size_t dropped = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const char* const names[] = {"p100-16x2", "p100-8x4", "h200-4x8", "h200-1x32", "k80-5x3"};
    const ScreenedCase c{testing::random_graph(random),
                         load_cluster(names[seed % std::size(names)])};
    const CostTables all = c.builder()(c.space, TableDetail::exact);
    const double optimum = solve(all, {}, 1).best.front().seconds;
    const Screened left = screen(c.space, {}, c.builder());
    ASSERT_EQ(left.tables.detail, TableDetail::exact);
    const Choices best = left.original(solve(left.tables, {}, 1).best.front().choices);
    EXPECT_LE(all.seconds(best), optimum + c.rounding(all));
    for (std::size_t v = 0; v < c.space.size(); ++v) {
      dropped += c.space[v].cuts->size() - left.kept[v].size();
    }
  }
  EXPECT_GT(dropped, 1000u);  // it did something
}

TEST(Screen, KeepsWhatCostsALittleMore) {
  std::size_t kept = 0, held = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const ScreenedCase c{testing::random_graph(random), load_cluster("p100-8x4")};
    const CostTables all = c.builder()(c.space, TableDetail::exact);
    const SolveResult best = solve(all, {}, 20);
    const Screened left = screen(c.space, {}, c.builder(), {}, nullptr, 0.2);
    const Screened least = screen(c.space, {}, c.builder());
    for (std::size_t v = 0; v < c.space.size(); ++v) {
      kept += left.kept[v].size() - least.kept[v].size();
    }
    for (const Solution& solution : best.best) {
      if (solution.seconds > 1.2 * best.best.front().seconds) continue;
      EXPECT_FALSE(left.restricted(solution.choices).empty());
      ++held;
    }
  }
  EXPECT_GT(kept, 100u);
  EXPECT_GT(held, 50u);
}

TEST(Screen, TranslatesChoices) {
  Random random(1);
  const ScreenedCase c{testing::random_graph(random), load_cluster("p100-16x2")};
  const Screened left = screen(c.space, {}, c.builder());
  Choices first(c.space.size());
  const Choices original = left.original(first);
  for (std::size_t v = 0; v < first.size(); ++v) {
    EXPECT_EQ(original[v], left.kept[v].front());
    EXPECT_EQ((*left.space[v].cuts)[0], (*c.space[v].cuts)[original[v]]);
  }
  EXPECT_EQ(left.restricted(original), first);
  Choices gone = original;
  for (std::uint32_t choice = 0; choice < c.space[0].cuts->size(); ++choice) {
    gone[0] = choice;
    const auto& kept = left.kept[0];
    const bool stays = std::find(kept.begin(), kept.end(), choice) != kept.end();
    EXPECT_EQ(left.restricted(gone).empty(), !stays);
  }
}

}  // namespace
}  // namespace strata
