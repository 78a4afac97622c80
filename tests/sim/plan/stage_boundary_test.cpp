// What crosses from one stage of a pipeline to the next, and back: each device gets a box once,
// though several layers read it.

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "random_case.h"
#include "sim/graph/zoo.h"
#include "sim/plan/lower.h"
#include "sim/plan/work_kind.h"
#include "sim/strategy/hybrid.h"
#include "sim/strategy/recomputation.h"

namespace strata {
namespace {

constexpr std::int64_t kBatch = 4, kTokens = 16, kHidden = 32;
constexpr Bytes kBoundary{4 * kBatch * kTokens * kHidden};

Graph three_blocks() {
  return build_zoo("gpt:layers=3,hidden=32,heads=4,seq=16,vocab=64", kBatch);
}

/// Bytes of transfers from or to the readers of blocks' inputs, and of their gradients.
std::map<std::string, Bytes> moved_into(const Graph& graph, const Plan& plan) {
  std::map<std::string, Bytes> moved;
  for (const Task& task : plan.tasks()) {
    if (task.kind != TaskKind::transfer || task.phase == Phase::update) continue;
    const std::string key = graph[task.layer].name + " " + std::string(role_of(task).name);
    moved[key] += plan.transfers()[task.detail].bytes;
  }
  return moved;
}

std::map<std::string, Bytes> moved_under(const Graph& graph, const char* sizes, int devices,
                                         Recompute recompute, std::uint32_t rounds = 1) {
  const Strategy strategy = hybrid_parallel(graph, devices, sizes);
  LowerOptions options;
  options.rounds = rounds;
  return moved_into(graph,
                    lower(graph, testing::star(static_cast<std::size_t>(devices)),
                          strategy.with(segments(graph, recompute, KernelTraits{})), options));
}

// The norm and the sum of the residual read the same tensor.
TEST(StageBoundary, IsCrossedOnceForAllReadersOfATensor) {
  const std::map<std::string, Bytes> once = {{"block2_attention_norm input", kBoundary},
                                             {"block2_attention_norm gradient", kBoundary},
                                             {"block3_attention_norm input", kBoundary},
                                             {"block3_attention_norm gradient", kBoundary}};
  EXPECT_EQ(moved_under(three_blocks(), "hybrid:pp=3", 3, Recompute::none), once);
}

TEST(StageBoundary, IsCrossedOnceWhereBlocksAreComputedAgain) {
  const Graph graph = three_blocks();
  for (const char* sizes : {"hybrid:pp=3", "hybrid:pp=3,tp=2", "hybrid:pp=3,tp=2,sp=1"}) {
    SCOPED_TRACE(sizes);
    const int devices = std::string(sizes) == "hybrid:pp=3" ? 3 : 6;
    auto again = moved_under(graph, sizes, devices, Recompute::full),
         kept = moved_under(graph, sizes, devices, Recompute::none);
    const auto crosses = [](const auto& moved) {
      return !moved.first.starts_with("block2_attention_norm") &&
             !moved.first.starts_with("block3_attention_norm");
    };
    std::erase_if(again, crosses);
    std::erase_if(kept, crosses);
    EXPECT_EQ(again, kept);
  }
}

}  // namespace
}  // namespace strata
