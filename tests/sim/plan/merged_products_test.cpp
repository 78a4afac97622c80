// A plan says which layers are one product; its tasks are the same.

#include "sim/step/merged_products.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "sim/cluster/presets.h"
#include "sim/graph/zoo.h"
#include "sim/plan/lower.h"
#include "sim/plan/task_title.h"
#include "sim/strategy/hybrid.h"

namespace strata {
namespace {

TEST(MergedProducts, AreThePlans) {
  const Graph graph = build_zoo("gpt:layers=2,hidden=32,heads=4,seq=8,vocab=32", 8);
  const Cluster cluster = preset_cluster("a100-1x4");
  const Strategy strategy = hybrid_parallel(graph, 4, "hybrid:tp=2");
  LowerOptions options;
  const Plan apart = lower(graph, cluster, strategy, options);
  EXPECT_TRUE(apart.products().empty());
  options.products = Products::merged;
  const Plan merged = lower(graph, cluster, strategy, options);
  EXPECT_FALSE(merged.products().empty());
  EXPECT_EQ(merged.products(), merge_products(graph, Products::merged));
  EXPECT_EQ(lower_by_class(graph, cluster, strategy, options).products(), merged.products());
  EXPECT_NE(merged, apart);
  EXPECT_TRUE(std::ranges::equal(merged.tasks(), apart.tasks()));
}

TEST(MergedProducts, AreNamedByTheirComputations) {
  const Graph graph = build_zoo("gpt:layers=1,hidden=32,heads=4,seq=8,vocab=32", 8);
  const Cluster cluster = preset_cluster("a100-1x2");
  LowerOptions options;
  options.products = Products::merged;
  const Plan plan = lower(graph, cluster, hybrid_parallel(graph, 2, "hybrid:tp=2"), options);
  for (const Task& task : plan.tasks()) {
    const std::string& layer = graph[task.layer].name;
    const bool is_part =
        layer == "block1_query" || layer == "block1_key" || layer == "block1_value";
    const bool computes = task.kind == TaskKind::compute && task.phase != Phase::backward_sum &&
                          task.phase != Phase::update;
    EXPECT_EQ(product_text(graph, plan, task),
              is_part && computes ? "block1_query, block1_key, block1_value" : "")
        << task_title(graph, plan, task);
  }
}

}  // namespace
}  // namespace strata
