// What DeepEP's kernels take, measured (profiles/sources/moe_alltoall_deepep.csv), beside what the
// presets' [collectives.token_sends] say of them. docs/profiles.md has what this prints.

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/cluster/presets.h"
#include "sim/graph/expert_load.h"
#include "sim/graph/zoo.h"
#include "sim/plan/lower.h"
#include "sim/strategy/hybrid.h"
#include "sim/text/file.h"
#include "sim/text/split.h"
#include "sim/text/units.h"
#include "tests/paths.h"

namespace strata {
namespace {

constexpr std::string_view kColumns =
    "gpu,hosts,gpus,hidden,topk,experts,tokens_per_gpu,dispatch_us,combine_us";

struct MeasuredSends {
  std::string kind;
  std::int64_t hosts = 0, gpus = 0, hidden = 0, top_k = 0, experts = 0, tokens = 0;
  double dispatch = 0, combine = 0;  // seconds
};

std::vector<MeasuredSends> measured_sends() {
  std::vector<MeasuredSends> all;
  const std::string text = read_file(source_path("profiles/sources/moe_alltoall_deepep.csv"));
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty() || line.front() == '#' || line == kColumns) continue;
    const std::vector<std::string_view> cells = split(line, ',');
    const auto count = [&](std::size_t i) {
      return static_cast<std::int64_t>(parse_number(cells[i]));
    };
    all.push_back({std::string(cells[0]), count(1), count(2), count(3), count(4), count(5),
                   count(6), parse_number(cells[7]) * 1e-6, parse_number(cells[8]) * 1e-6});
  }
  return all;
}

std::string cluster_of(const MeasuredSends& row) {
  if (row.kind.starts_with("gb")) return fmt::format("{}-1xNVL{}", row.kind, row.gpus);
  const std::string kind = row.kind == "h100_h200" ? "h100" : row.kind;
  return fmt::format("{}-{}x{}", kind, row.hosts, row.gpus / row.hosts);
}

// Of the exchange that brings tokens of so many channels in bf16 to experts, those of each token on
// four hosts at most.
double seconds_of(const MeasuredSends& row, const Cluster& cluster, std::int64_t channels) {
  const Graph graph = with_routing(
      build_zoo(fmt::format("llama:layers=1,hidden={},heads={},seq={},vocab=64,experts={},topk={},"
                            "moe_ffn=64,groups={},topk_groups={}",
                            channels, row.hidden / 128, row.tokens, row.experts, row.top_k,
                            row.hosts, std::min<std::int64_t>(row.hosts, 4)),
                row.gpus),
      [](ExpertRouting& routing) { routing.dispatch = TokenDispatch::deepep; });
  LowerOptions options;
  options.exchanges = Exchanges::collective;
  options.dtypes.values = DType::bf16;
  const auto gpus = static_cast<int>(row.gpus);
  const Plan plan = lower(graph, cluster,
                          hybrid_parallel(graph, gpus, fmt::format("hybrid:ep={}", gpus)), options);
  const Exchange& exchange = plan.exchanges().front();
  double seconds = 0;
  for (const CollectivePhase& phase : plan.group_shapes()[exchange.shape].phases) {
    double slowest = 0;
    for (const LinkLoad& load : phase.loads) {
      slowest = std::max(slowest, load.demand() / cluster[load.link].bandwidth.value);
    }
    seconds += phase.latency.value +
               phase.bytes_per_byte * slowest * static_cast<double>(exchange.bytes.value);
  }
  return seconds;
}

double median_of(std::vector<double> errors) {
  std::ranges::sort(errors);
  return errors[errors.size() / 2];
}

// H100 and H200 are fitted to one, two and four hosts. Eight of these hosts had a poor network;
// other devices are assumed.
TEST(TokenSends, AreAsFarFromTheirRowsAsIsSaid) {
  std::map<std::tuple<std::string, std::int64_t, std::string>, std::vector<double>> errors;
  std::map<std::string, Cluster> clusters;
  for (const MeasuredSends& row : measured_sends()) {
    const std::string name = cluster_of(row);
    const Cluster& cluster = clusters.try_emplace(name, preset_cluster(name)).first->second;
    // In FP8 a token has half the bytes.
    errors[{row.kind, row.hosts, "dispatch"}].push_back(
        seconds_of(row, cluster, row.hidden / 2) / row.dispatch - 1);
    errors[{row.kind, row.hosts, "combine"}].push_back(
        seconds_of(row, cluster, row.hidden) / row.combine - 1);
  }
  for (const auto& [key, all] : errors) {
    const auto& [kind, hosts, what] = key;
    std::vector<double> sizes;
    for (const double error : all) sizes.push_back(std::abs(error));
    const double median = median_of(sizes);
    fmt::print("| {} | {} | {} | {} | {:.1f} % | {:+.1f} % |\n", kind, hosts, what, all.size(),
               100 * median, 100 * median_of(all));
    if (!kind.starts_with("h")) continue;
    if (hosts == 1 || hosts == 4) EXPECT_LT(median, 0.10) << kind << what;
    if (hosts == 2) EXPECT_LT(median, 0.16) << kind << what;
  }
}

}  // namespace
}  // namespace strata
