// What devices exchange of the slots of experts, by dispatch and by load: derived from a mixture of
// 8 experts, 2 of which a token has, on 4 devices.

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/cluster/cluster_file.h"
#include "sim/cluster/presets.h"
#include "sim/graph/expert_load.h"
#include "sim/graph/zoo.h"
#include "sim/plan/lower.h"
#include "sim/strategy/hybrid.h"

namespace strata {
namespace {

constexpr std::int64_t kSamples = 8, kAllTokens = kSamples * 16, kWidth = 32;

Graph mixture() {
  return build_zoo("llama:layers=1,hidden=32,heads=4,seq=16,vocab=64,experts=8,topk=2,moe_ffn=24",
                   kSamples);
}

Graph dispatched(TokenDispatch by) {
  return with_routing(mixture(), [by](ExpertRouting& routing) { routing.dispatch = by; });
}

Plan lowered(const Graph& graph, const Cluster& cluster) {
  LowerOptions options;
  options.exchanges = Exchanges::collective;
  const auto devices = static_cast<int>(cluster.device_count());
  const std::string sizes = devices == 4 ? "hybrid:ep=4" : "hybrid:ep=8";
  return lower(graph, cluster, hybrid_parallel(graph, devices, sizes), options);
}

// How many exchanges there are of each kind and size.
using Counts = std::map<std::pair<GroupWork, std::int64_t>, int>;
Counts counts(const Plan& plan) {
  Counts found;
  for (const Exchange& exchange : plan.exchanges()) {
    ++found[{exchange.work, exchange.bytes.value / 4}];
  }
  return found;
}

// Slots to experts and back, forward and backward: of each token two.
TEST(SlotExchanges, AreAllToAllsByDefault) {
  const Cluster host = preset_cluster("h100-1x4");
  const Counts four = {{{GroupWork::all_to_all, 2 * kAllTokens * kWidth}, 4}};
  EXPECT_EQ(counts(lowered(mixture(), host)), four);
  EXPECT_EQ(counts(lowered(dispatched(TokenDispatch::alltoall), host)), four);
}

// Every device gets all tokens, and the experts' sums for its own.
TEST(SlotExchanges, MayBeGathersOfTokens) {
  const Counts halves = {{{GroupWork::all_gather, kAllTokens * kWidth}, 2},
                         {{GroupWork::reduce_scatter, kAllTokens * kWidth}, 2}};
  EXPECT_EQ(counts(lowered(dispatched(TokenDispatch::allgather), preset_cluster("h100-1x4"))),
            halves);
}

// The weight of each link's load, for one byte of the exchange.
std::map<std::string, double> loads(const Plan& plan, const Cluster& cluster) {
  const Exchange& first = plan.exchanges().front();
  std::map<std::string, double> found;
  for (const CollectivePhase& phase : plan.group_shapes()[first.shape].phases) {
    for (const LinkLoad& load : phase.loads) {
      found[cluster[load.link].name] += phase.bytes_per_byte * load.weight;
    }
  }
  return found;
}

// A device has 2 of 8 experts, so a token with it with 1 - 6/8 5/7 = 13/28: of 4 devices 13/7 in
// the mean, in place of 2 slots.
TEST(SlotExchanges, SendATokenOnceToADevice) {
  const Cluster host = preset_cluster("h100-1x4");
  const auto each = loads(lowered(dispatched(TokenDispatch::alltoall), host), host);
  const auto once = loads(lowered(dispatched(TokenDispatch::deepep), host), host);
  ASSERT_EQ(each.size(), once.size());
  const double row = 1 + 500 / (4.0 * kWidth);  // of the preset
  for (const auto& [link, weight] : each) {
    EXPECT_NEAR(once.at(link), weight * 13 / 14 * row, 1e-9) << link;
  }
}

// On two hosts of 4 a device has one expert, a host 4 of 8: a token has one there with 1 - 4/8 3/7
// = 11/14, in place of one slot. Inside, a quarter of the devices' 2 slots comes besides from the
// device that a host's tokens reach first: 2/8 of 8 devices in place of 2 slots of 4.
TEST(SlotExchanges, SendATokenOnceToAHost) {
  const Cluster hosts = preset_cluster("h100-2x4");
  const auto each = loads(lowered(dispatched(TokenDispatch::alltoall), hosts), hosts);
  const auto once = loads(lowered(dispatched(TokenDispatch::deepep), hosts), hosts);
  const double row = 1 + 500 / (4.0 * kWidth);
  std::size_t between = 0;
  for (const auto& [link, weight] : each) {
    const bool network = link.find("nic") != std::string::npos;
    EXPECT_NEAR(once.at(link), weight * (network ? 11 / 14.0 : 2 * row), 1e-9) << link;
    between += network;
  }
  EXPECT_GT(between, 0U);
  EXPECT_LT(between, each.size());
}

// Of two groups of 4 experts, a host each, a token has 2 experts of one: half of the tokens go to
// the other host, in place of 11/14. With 4 groups of 2, of which it has 2, a host has none of them
// with 1 of 6 choices; with 4 of 6 one group, so 1 - 1/6 of its choices of 2 of 4 experts are
// there; with 1 of 6 both.
TEST(SlotExchanges, SendATokenToTheGroupsThatItsRouterChooses) {
  const Cluster hosts = preset_cluster("h100-2x4");
  const auto sent = [&](std::string_view groups) {
    const Graph graph = with_routing(
        build_zoo(fmt::format("llama:layers=1,hidden=32,heads=4,seq=16,vocab=64,experts=8,topk=2,"
                              "moe_ffn=24{}",
                              groups),
                  kSamples),
        [](ExpertRouting& routing) { routing.dispatch = TokenDispatch::deepep; });
    return loads(lowered(graph, hosts), hosts);
  };
  const auto any = sent(""), one = sent(",groups=2,topk_groups=1"),
             two = sent(",groups=4,topk_groups=2");
  std::size_t between = 0;
  for (const auto& [link, weight] : any) {
    if (link.find("nic") == std::string::npos) continue;
    EXPECT_NEAR(one.at(link), weight * 0.5 * 14 / 11, 1e-9) << link;
    EXPECT_NEAR(two.at(link), weight * (4 * 5 / 6.0 + 1) / 6 * 14 / 11, 1e-9) << link;
    ++between;
  }
  EXPECT_GT(between, 0U);
}

// Other devices have three quarters of the slots, and of the tokens' experts as above.
TEST(SlotExchanges, CountWhatIsSent) {
  const Cluster host = preset_cluster("h100-1x4");
  const auto moved = [&](const Graph& graph) {
    return static_cast<double>(communication(lowered(graph, host)).transfer.value) / 4;
  };
  const double tokens = 4 * 3 / 4.0 * kAllTokens * kWidth;  // once to one other place
  EXPECT_EQ(moved(mixture()), 2 * tokens);
  EXPECT_EQ(moved(dispatched(TokenDispatch::alltoall)), 2 * tokens);
  EXPECT_EQ(moved(dispatched(TokenDispatch::allgather)), 4 * tokens);
  EXPECT_NEAR(moved(dispatched(TokenDispatch::deepep)), 4 * 13 / 28.0 * tokens, 16);
}

// Of a load that is all on the first host's experts, a token is sent there with 1 in place of
// 11/14; the device of the fullest expert has it with 8/4 of 2/8.
TEST(SlotExchanges, SendATokenOnceToTheFullestHost) {
  const Cluster hosts = preset_cluster("h100-2x4");
  const Graph even = dispatched(TokenDispatch::deepep);
  const auto balanced = loads(lowered(even, hosts), hosts);
  const auto with = [&](std::vector<double> tokens) {
    return loads(lowered(with_expert_load(even, CountedLoad{std::move(tokens)}), hosts), hosts);
  };
  const auto one_host = with({1, 1, 1, 1, 0, 0, 0, 0}), both = with({3, 1, 3, 1, 3, 1, 3, 1});
  for (const auto& [link, weight] : balanced) {
    const bool network = link.find("nic") != std::string::npos;
    EXPECT_NEAR(one_host.at(link), weight * (network ? 14 / 11.0 : 2), 1e-9) << link;
    EXPECT_NEAR(both.at(link), weight * (network ? 1 : 1.5), 1e-9) << link;
  }
}

// The most loaded device decides how long an exchange takes, and keeps the most.
TEST(SlotExchanges, FollowTheLoadOfTheFullestDevice) {
  const Graph graph = with_expert_load(mixture(), ZipfLoad{1.5});
  const Layer& up = graph[graph.find("block1_ffn_expert_up")];
  const double most = most_load(up, 4);
  ASSERT_GT(most, 1.2);
  const Plan plan = lowered(graph, preset_cluster("h100-1x4"));
  const auto slots = static_cast<double>(2 * kAllTokens * kWidth);
  for (const Exchange& exchange : plan.exchanges()) {
    EXPECT_NEAR(static_cast<double>(exchange.bytes.value) / 4, most * slots, 1);
  }
  double sum = 0, largest = 0;
  for (const Buffer& buffer : plan.buffers()) {
    if (buffer.layer != graph.find("block1_ffn_expert_up")) continue;
    if (buffer.kind != BufferKind::activation) continue;
    sum += static_cast<double>(buffer.bytes.value);
    largest = std::max(largest, static_cast<double>(buffer.bytes.value));
  }
  EXPECT_NEAR(sum, 4.0 * 2 * kAllTokens * 24, 4);
  EXPECT_NEAR(largest, most * sum / 4, 4);
}

// Nothing is another plan where experts have equally many tokens.
TEST(SlotExchanges, OfBalancedExpertsStay) {
  const Cluster host = preset_cluster("h100-1x4");
  EXPECT_EQ(lowered(with_expert_load(mixture(), BalancedLoad{}), host), lowered(mixture(), host));
  EXPECT_EQ(counts(lowered(with_expert_load(mixture(), ZipfLoad{0}), host)),
            counts(lowered(mixture(), host)));
}

}  // namespace
}  // namespace strata
