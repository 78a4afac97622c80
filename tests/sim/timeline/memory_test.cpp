#include "sim/timeline/memory.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "sim/plan/plan_builder.h"

namespace strata {
namespace {

// Each task has a buffer while it runs, in whole seconds: most changes meet others at their time.
TEST(Memory, PeakIsThatOfAllSeconds) {
  constexpr std::size_t kTasks = 3000;
  std::mt19937 random(1);
  PlanBuilder builder(DType::fp32, 1);
  std::vector<Span> spans;
  std::vector<Bytes> used(200);
  for (std::size_t k = 0; k < kTasks; ++k) {
    const std::size_t start = random() % 100, end = start + 1 + random() % 99;
    const Bytes bytes{static_cast<std::int64_t>(1 + random() % 1000)};
    const Operand own{builder.add_buffer({.device = DeviceId(0), .bytes = bytes}), 0, Role::output,
                      Access::write};
    builder.add({.kind = TaskKind::compute, .layer = LayerId(0), .device = DeviceId(0)}, {},
                std::span(&own, 1));
    const Seconds from{static_cast<double>(start)};
    spans.push_back({from, from, {static_cast<double>(end)}});
    for (std::size_t second = start; second < end; ++second) used[second] += bytes;
  }
  const Plan plan = std::move(builder).build();
  EXPECT_EQ(peak_memory(plan, Timeline(kTasks, spans)),
            std::vector{*std::max_element(used.begin(), used.end())});
}

}  // namespace
}  // namespace strata
