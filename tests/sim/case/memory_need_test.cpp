#include "sim/case/memory_need.h"

#include <gtest/gtest.h>

#include "sim/graph/zoo.h"
#include "sim/strategy/hybrid.h"
#include "sim/timeline/memory.h"

namespace strata {
namespace {

CaseRequest llama(const char* sizes, std::int64_t batch) {
  CaseRequest request;
  request.model = std::string("llama:seq=4096,vocab=128256,") + sizes;
  request.cluster = "b200-1x8";
  request.training.batch = batch;
  request.training.micro_batch = 1;
  request.training.dtype = DType::bf16;
  request.training.gradients = GradientType::fp32;
  request.training.optimizer = Optimizer::adam;
  request.training.sync.zero = Zero::state;
  return request;
}

MemoryNeed need_of(const CaseRequest& request, const char* strategy) {
  const Case input = load_case(request);
  return memory_need(input, predict(input, hybrid_parallel(input.graph, 8, strategy)));
}

// What Megatron Core allocated and reserved: profiles/published/megatron-core-b200.csv.
TEST(MemoryNeed, IsWhatPublishedRunsAllocatedAndReserved) {
  struct Run {
    const char *sizes, *strategy;
    double allocated, reserved;  // GiB
  };
  constexpr const char* kOf70B = "layers=12,hidden=8192,heads=64,kv_heads=8,ffn=28672";
  constexpr const char* kOf405B = "layers=4,hidden=16384,heads=128,kv_heads=16,ffn=53248";
  for (const Run& run : {Run{kOf70B, "hybrid:tp=4,sp=1", 39.07, 40.18},
                         Run{kOf405B, "hybrid:tp=2,sp=1", 81.59, 84.7},
                         Run{kOf405B, "hybrid:tp=4,sp=1", 52.89, 54.65},
                         Run{kOf405B, "hybrid:tp=8,sp=1", 38.57, 39.83}}) {
    const MemoryNeed need = need_of(llama(run.sizes, 16), run.strategy);
    const double gib = 1024.0 * 1024 * 1024;
    EXPECT_NEAR(static_cast<double>(need.kept.value) / gib / run.allocated, 1, 0.05)
        << run.strategy;
    const double reserved = static_cast<double>((need.kept + need.blocks).value) / gib;
    EXPECT_NEAR(reserved / run.reserved, 1, 0.05) << run.strategy;
    EXPECT_EQ(need.fit(), MemoryFit::yes);
  }
}

TEST(MemoryNeed, IsTightWhereOnlyWhatThePlanKeepsFits) {
  CaseRequest request = llama("layers=2,hidden=1024,heads=8,ffn=4096", 16);
  const MemoryNeed need = need_of(request, "hybrid:tp=2");
  EXPECT_GT(need.channels, Bytes{});
  const auto with = [&](Bytes memory) {
    request.sets = {{"device.*.memory", std::to_string(memory.value)}};
    return need_of(request, "hybrid:tp=2").fit();
  };
  EXPECT_EQ(with(need.needed()), MemoryFit::yes);
  EXPECT_EQ(with(need.needed() - Bytes{1}), MemoryFit::tight);
  EXPECT_EQ(with(need.kept), MemoryFit::tight);
  EXPECT_EQ(with(need.kept - Bytes{1}), MemoryFit::no);
}

// A buffer that is set to zero is there while the forward pass fills the rest.
TEST(MemoryNeed, HasGradientsAllTheTimeWhereTheyAreSetToZero) {
  const auto predicted = [](const char* zero) {
    CaseRequest request;
    request.model = "gpt2";
    request.cluster = "a100-1x1";
    request.training.batch = 8;
    request.training.dtype = DType::bf16;
    request.sets = {{"gradient.zero", zero}};
    const Case input = load_case(request);
    return predict(input, data_parallel(input.graph, 1));
  };
  const Prediction made = predicted("none"), zeroed = predicted("pass");
  const MemoryParts parts = memory_at_peak(zeroed.plan, zeroed.timeline, DeviceId(0));
  const std::int64_t parameters = build_zoo("gpt2", 1).parameters();
  EXPECT_EQ(parts.gradients.value, 2 * parameters);
  EXPECT_GT(zeroed.largest_peak(), made.largest_peak());
  EXPECT_EQ(parts.total(), zeroed.largest_peak());
}

TEST(MemoryNeed, IsThePlansAloneWhereNoChannelsAreKnown) {
  CaseRequest request;
  request.model = "lenet5";
  request.cluster = "k80-1x2";
  request.training.batch = 64;
  const Case input = load_case(request);
  const MemoryNeed need =
      memory_need(input, predict(input, hybrid_parallel(input.graph, 2, "hybrid:tp=1")));
  EXPECT_EQ(need.reserve(), Bytes{});
  EXPECT_EQ(need_text(need), "");
}

}  // namespace
}  // namespace strata
