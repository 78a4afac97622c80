// Tags of messages are int32 in the schema.

#include <gtest/gtest.h>

#include "sim/cluster/presets.h"
#include "sim/exporters/chakra/chakra.h"
#include "sim/plan/plan_builder.h"
#include "tests/sim/text/said.h"

namespace strata {
namespace {

Plan plan_of_one_transfer(std::size_t pieces) {
  PlanBuilder builder(DType::fp32, 2);
  const std::vector<Piece> all(pieces, Piece{DeviceId(0), {}, {8}});
  const Task task{TaskKind::transfer, Phase::forward, LayerId(0), DeviceId(1), 0, 0, Stream::links};
  builder.add_transfer(task, 0, all, {});
  return std::move(builder).build();
}

// 2^15 steps of 2^16 messages are one more than the largest int32 from 0 on.
TEST(Tags, ThatWouldRunOverAreRefused) {
  GraphBuilder net("net", 2);
  net.add("x", Input{{1, 1, 1, 1, 1}}, {});
  const Graph graph = std::move(net).build();
  const Timeline timeline(1, std::vector<Span>(std::size_t{1} << 15));
  EXPECT_EQ(said([&] {
              print_chakra(graph, preset_cluster("p100-1x2"), plan_of_one_transfer(1 << 16),
                           timeline);
            }),
            "32768 steps of 65536 messages are more than Chakra's tags tell apart; allowed: "
            "2147483647 in all");
}

}  // namespace
}  // namespace strata
