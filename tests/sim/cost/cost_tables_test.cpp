// The tables against Eq1, which takes one strategy and any devices: on random networks of every op,
// on every way of wiring hosts, every entry must be Eq1's rounded to the quantum.

#include "sim/cost/cost_tables.h"

#include <atomic>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "sim/base/cancel.h"
#include "sim/cluster/builder.h"
#include "sim/cluster/cluster_file.h"
#include "sim/cluster/presets.h"
#include "sim/cluster/what_if.h"
#include "sim/cost/group_network.h"
#include "sim/graph/zoo.h"
#include "sim/profile/profile.h"
#include "sim/step/redistribution.h"
#include "tests/sim/plan/random_case.h"

namespace strata {
namespace {

using testing::Random;

// Every choice of every variable and edge of the network, or a sample where there are many.
class Comparison {
 public:
  Comparison(const Graph& graph, const Cluster& cluster, SyncAlgorithm sync,
             const SearchOptions& search = {}, DTypes dtypes = {}, std::uint32_t rounds = 1,
             Segments segments = {})
      : graph_(graph),
        cluster_(cluster),
        model_(make_cost_model(load_profile(is_of_products(dtypes.values) ? "h100" : "p100"))),
        models_(cluster.device_count(), model_.get()),
        space_(graph, cluster, search),
        rounds_(rounds),
        segments_(std::move(segments)),
        tables_(build_cost_tables(graph, cluster, models_, sync, {.dtypes = dtypes}, space_,
                                  {.rounds = rounds_, .segments = segments_})),
        eq1_(graph, cluster, models_, sync, {.dtypes = dtypes}) {}

  void check_variables() {
    for (std::size_t v = 0; v < space_.size(); ++v) {
      const Cuts& cuts = *space_[v].cuts;
      ASSERT_EQ(tables_.variables[v]->size(), cuts.size());
      for (std::size_t i = 0; i < cuts.size(); ++i) {
        double expected = 0;
        for (LayerId layer : space_[v].layers) {
          const bool leads = layer == space_[v].leader;
          const Config config = config_of(leads ? cuts[i] : output_cut(cuts[i]));
          expected +=
              (eq1_.compute(layer, config, eq1_.counts()[layer()]) + eq1_.sync(layer, config) +
               eq1_.partial_sums(layer, config, eq1_.counts()[layer()].spreads_gradient))
                  .value;
        }
        ASSERT_NEAR((*tables_.variables[v])[i], expected, 1e-13 * expected + tables_.quantum)
            << graph_[space_[v].leader].name << ", choice " << i;
      }
    }
  }

  // Between rounding, bytes over bandwidth are the same doubles: half a quantum is all.
  void check_edges(std::size_t most_pairs) {
    std::size_t edge = 0;
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const LayerId consumer(i);
      for (std::size_t input = 0; input < graph_[consumer].inputs.size(); ++input) {
        const auto from = space_.variable_of(graph_[consumer].inputs[input]);
        const auto to = space_.variable_of(consumer);
        if (!from || !to || *from == *to) continue;
        if (edge == tables_.edges.size() || tables_.edges[edge].from != *from ||
            tables_.edges[edge].to != *to) {
          continue;  // read before: costs nothing
        }
        check_edge(consumer, input, tables_.edges[edge++], most_pairs);
      }
    }
    EXPECT_EQ(edge, tables_.edges.size());
  }

  // All of a strategy, whichever layers share a choice.
  void check_strategies(Random& random, int count) {
    for (int i = 0; i < count; ++i) {
      std::vector<std::uint32_t> choices;
      for (std::size_t v = 0; v < space_.size(); ++v) {
        choices.push_back(static_cast<std::uint32_t>(random() % space_[v].cuts->size()));
      }
      const Strategy strategy = space_.strategy("any", choices).with(segments_);
      EXPECT_EQ(space_.choices(strategy), choices);
      EXPECT_EQ(validate(strategy, graph_, cluster_), std::vector<std::string>{});
      const double expected = total(eq1_.terms(strategy, rounds_)).value;
      ASSERT_NEAR(tables_.seconds(choices), expected, 1e-12 * expected);
    }
  }

  const CostTables& tables() const { return tables_; }
  const SearchSpace& space() const { return space_; }

 private:
  void check_edge(LayerId consumer, std::size_t input, const CostTables::Edge& edge,
                  std::size_t most_pairs) {
    const Cuts &from = *space_[edge.from].cuts, &to = *space_[edge.to].cuts;
    const std::size_t pairs = from.size() * to.size();
    const std::size_t stride = std::max<std::size_t>(1, pairs / most_pairs);
    for (std::size_t pair = edge.to % stride; pair < pairs; pair += stride) {
      const std::size_t p = pair / to.size(), q = pair % to.size();
      const LayerId producer = graph_[consumer].inputs[input];
      const Seconds expected = eq1_.transfer(
          consumer, input, config_of(space_.cut_of(producer, from[p])),
          config_of(space_.cut_of(consumer, to[q])), eq1_.counts()[consumer()].returns[input]);
      ASSERT_NEAR(edge.table->at(p, q), expected.value, tables_.quantum / 2)
          << graph_[consumer].name << " input " << input << ": " << p << " to " << q;
    }
  }

  const Graph& graph_;
  const Cluster& cluster_;
  std::unique_ptr<CostModel> model_;
  std::vector<const CostModel*> models_;
  SearchSpace space_;
  std::uint32_t rounds_;
  Segments segments_;  // that all strategies compute again
  CostTables tables_;
  Eq1 eq1_;
};

TEST(CostTables, AreEq1OnRandomNetworks) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Graph graph = testing::random_graph(random);
    const char* const names[] = {"p100-1x2", "p100-1x4", "p100-2x2", "k80-2x3", "h200-3x2"};
    const Cluster cluster = load_cluster(names[random() % std::size(names)]);
    const auto sync = static_cast<SyncAlgorithm>(random() % kSyncNames.size());
    const auto degrees = static_cast<DegreeSet>(random() % 3);
    Comparison comparison(
        graph, cluster, sync,
        {degrees, random() % 2 == 0, random() % 2 == 0, static_cast<ReductionCuts>(random() % 3)});
    comparison.check_variables();
    comparison.check_edges(60);
  }
}

// Products that read one tensor, and layers that share a weight.
TEST(CostTables, AreEq1OnRandomTransformers) {
  std::size_t cut_vocabularies = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Graph graph = testing::random_transformer(random);
    const char* const names[] = {"p100-1x2", "p100-1x4", "p100-2x2", "h200-2x4"};
    const Cluster cluster = load_cluster(names[random() % std::size(names)]);
    const auto sync = static_cast<SyncAlgorithm>(random() % kSyncNames.size());
    Comparison comparison(
        graph, cluster, sync,
        {std::nullopt, random() % 2 == 0, random() % 2 == 0, ReductionCuts::fully_connected});
    comparison.check_strategies(random, 40);
    for (const Cut& cut : *comparison.space()[0].cuts) cut_vocabularies += cut.degrees.r > 1;
  }
  EXPECT_GT(cut_vocabularies, 100u);
}

// Rounds compute and move the network several times, update and sum gradients once; what is
// computed again is computed twice in each.
TEST(CostTables, AreEq1OfSeveralRounds) {
  std::size_t again = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const bool tokens = random() % 2 == 0;
    const Graph graph =
        tokens ? testing::random_transformer(random) : testing::random_graph(random);
    const char* const names[] = {"p100-1x2", "p100-1x4", "p100-2x2", "h200-2x4"};
    const Cluster cluster = load_cluster(names[random() % std::size(names)]);
    const auto sync = static_cast<SyncAlgorithm>(random() % kSyncNames.size());
    const auto rounds = static_cast<std::uint32_t>(1 + random() % 4);
    const auto recompute = static_cast<Recompute>(random() % kRecomputeNames.size());
    const Segments again_segments =
        segments(graph, recompute, make_cost_model(load_profile("p100"))->kernels());
    again += again_segments.empty() ? 0 : 1;
    Comparison comparison(
        graph, cluster, sync,
        {std::nullopt, random() % 2 == 0, random() % 2 == 0, ReductionCuts::fully_connected}, {},
        rounds, again_segments);
    comparison.check_strategies(random, 20);
  }
  EXPECT_GT(again, 10u);
}

struct Wiring {
  const char* cluster;
  std::size_t group_size;  // see group_network.h
};

void PrintTo(const Wiring& wiring, std::ostream* out) {
  *out << wiring.cluster;
}

class CostTablesOnClusters : public ::testing::TestWithParam<Wiring> {};

TEST_P(CostTablesOnClusters, AreEq1) {
  const Cluster cluster = load_cluster(GetParam().cluster);
  EXPECT_EQ(GroupNetwork(cluster).group_size(), GetParam().group_size);
  Random random(7);
  for (int i = 0; i < 3; ++i) {
    const Graph graph = testing::random_graph(random);
    Comparison comparison(graph, cluster, SyncAlgorithm::ring,
                          {.reductions = static_cast<ReductionCuts>(i)});
    comparison.check_variables();
    comparison.check_edges(100);
  }
}

// Behind one switch every device is a group; else hosts are, for a way between two devices depends
// on whether they share one.
INSTANTIATE_TEST_SUITE_P(Wirings, CostTablesOnClusters,
                         ::testing::Values(Wiring{"p100-1x1", 1}, Wiring{"p100-1x4", 4},
                                           Wiring{"p100-4x4", 4}, Wiring{"p100-16x2", 2},
                                           Wiring{"dgx1-p100", 8}, Wiring{"dgx1-p100-2", 8},
                                           Wiring{"k80-2x4", 4}, Wiring{"h200-1x8", 1},
                                           Wiring{"h200-2x8", 8}, Wiring{"h200-8x1", 1}));

// Hosts of two devices with one card, two at each of the leaves below one switch.
Cluster tree_of_switches(const std::vector<int>& hosts_of_leaves) {
  ClusterBuilder builder("tree");
  const BytesPerSecond inside{20e9}, outside{10e9};
  int host = 0;
  builder.add_switch("top");
  for (std::size_t leaf = 0; leaf < hosts_of_leaves.size(); ++leaf) {
    const std::string at = fmt::format("leaf{}", leaf);
    builder.add_switch(at);
    builder.add_duplex({at, "top", outside, {}, "", "uplink"});
    for (int i = 0; i < hosts_of_leaves[leaf]; ++i, ++host) {
      const std::string name = fmt::format("n{}", host), card = name + "/nic";
      const std::string gpus[] = {name + "/gpu0", name + "/gpu1"};
      for (const std::string& gpu : gpus) {
        builder.add_device({.name = gpu, .kind = "p100", .host = name, .forwards = false});
      }
      builder.add_switch(card);
      builder.add_duplex({gpus[0], gpus[1], inside, Seconds{0.6e-6}, "", "intra"});
      for (const std::string& gpu : gpus) builder.add_duplex({gpu, card, outside, {}, "", "inter"});
      builder.add_duplex({card, at, outside, Seconds{1e-6}, "", "inter"});
    }
  }
  return std::move(builder).build();
}

// A way between two hosts has more links where they share no leaf, so the hosts of a leaf are a
// group. Where the leaves differ, all devices are one.
TEST(CostTables, AreEq1BelowATreeOfSwitches) {
  const std::pair<std::vector<int>, std::size_t> trees[] = {
      {{2, 2}, 4}, {{3, 3, 3}, 6}, {{4}, 2}, {{2, 3}, 10}};
  for (const auto& [hosts, group] : trees) {
    SCOPED_TRACE(group);
    const Cluster cluster = tree_of_switches(hosts);
    EXPECT_EQ(GroupNetwork(cluster).group_size(), group);
    Random random(5);
    for (int i = 0; i < 2; ++i) {
      const Graph graph = testing::random_graph(random);
      Comparison comparison(graph, cluster, SyncAlgorithm::ring);
      comparison.check_variables();
      comparison.check_edges(100);
    }
  }
}

// A slow link in one host makes its group differ in bandwidth; another latency there makes all
// devices one group.
TEST(CostTables, AreEq1WhereOneLinkDiffers) {
  const Cluster regular = load_cluster("p100-4x2");
  std::string link;
  for (const Link& candidate : regular.links()) {
    if (candidate.kind == "inter" && candidate.name.find("core") != std::string::npos) {
      link = candidate.name;
      break;
    }
  }
  ASSERT_FALSE(link.empty());
  Random random(11);
  const Graph graph = testing::random_graph(random);
  for (const auto& [key, value, group] :
       {std::tuple{"bandwidth", "1 GB/s", 2u}, std::tuple{"latency", "1 ms", 8u}}) {
    SCOPED_TRACE(key);
    const Cluster cluster = apply(regular, "link." + link + "." + key, value);
    EXPECT_EQ(GroupNetwork(cluster).group_size(), group);
    Comparison comparison(graph, cluster, SyncAlgorithm::ps);
    comparison.check_variables();
    comparison.check_edges(200);
  }
}

// Layers of equal shape share tables, but not where one of them is faster.
TEST(CostTables, AreEq1WhereOneLayerIsFaster) {
  Random random(17);
  for (int round = 0; round < 5; ++round) {
    const Graph graph = testing::random_network(random, 8);
    std::vector<double> speeds(graph.size(), 1);
    speeds[random() % speeds.size()] = 3;
    const Graph uneven = graph.with_speeds(speeds);
    const Cluster cluster = load_cluster("p100-1x4");
    Comparison comparison(uneven, cluster, SyncAlgorithm::ps);
    comparison.check_variables();
  }
}

// The last product is not in fewer bits, and may have the shape of others.
TEST(CostTables, AreEq1WhereProductsAreInFewerBits) {
  const Graph graph = build_zoo("llama:layers=1,hidden=32,heads=4,ffn=24,seq=8,vocab=32", 4);
  const Cluster cluster = preset_cluster("h100-1x4");
  Comparison comparison(graph, cluster, SyncAlgorithm::ring, {}, DType::fp8);
  Random random(7);
  comparison.check_strategies(random, 20);
}

TEST(CostTables, AreEq1WhereParametersAreOfATypeOfTheirOwn) {
  Random random(11);
  const Graph graph = testing::random_graph(random);
  const Cluster cluster = preset_cluster("p100-2x2");
  Comparison comparison(graph, cluster, SyncAlgorithm::ring, {}, fp32_parameters(DType::bf16));
  comparison.check_variables();
  comparison.check_edges(100);
}

// A link of a millionth of a byte a second: what crosses it takes years, but must not blur the
// microseconds of all that does not.
TEST(CostTables, KeepTheirPrecisionBesideAHugeEntry) {
  const Cluster regular = load_cluster("p100-1x4");
  const Cluster slow =
      apply(regular, "link." + regular.links().back().name + ".bandwidth", "0.000001 B/s");
  Random random(2);
  const Graph graph = testing::random_graph(random);
  Comparison usual(graph, regular, SyncAlgorithm::ring);
  Comparison beside(graph, slow, SyncAlgorithm::ring);
  EXPECT_LE(beside.tables().quantum, 1e3 * usual.tables().quantum);
  beside.check_variables();
}

TEST(CostTables, AreEqualForEveryNumberOfThreads) {
  Random random(3);
  const Graph graph = testing::random_graph(random);
  const Cluster cluster = load_cluster("p100-2x4");
  const auto model = make_cost_model(load_profile("p100"));
  const std::vector<const CostModel*> models(cluster.device_count(), model.get());
  const SearchSpace space(graph, cluster);
  const auto build = [&](unsigned threads) {
    return build_cost_tables(graph, cluster, models, SyncAlgorithm::automatic,
                             {.dtypes = DType::fp32}, space,
                             {threads, nullptr, TableDetail::exact});
  };
  const CostTables one = build(1), three = build(3);
  ASSERT_EQ(one.edges.size(), three.edges.size());
  for (std::size_t i = 0; i < one.edges.size(); ++i) {
    EXPECT_EQ(one.edges[i].table->seconds, three.edges[i].table->seconds);
  }
  for (std::size_t v = 0; v < one.variables.size(); ++v) {
    EXPECT_EQ(*one.variables[v], *three.variables[v]);
  }
}

// What looks at fewer links, or at several as one, can only miss the busiest.
TEST(CostTables, OfLessDetailAreNeverMore) {
  const auto model = make_cost_model(load_profile("p100"));
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const char* const names[] = {"p100-16x2",   "p100-4x4",  "h200-3x8",
                                 "dgx1-p100-2", "h200-1x16", "k80-10x2"};
    const Cluster cluster = load_cluster(names[seed % std::size(names)]);
    const std::vector<const CostModel*> models(cluster.device_count(), model.get());
    const Graph graph = testing::random_graph(random);
    const SearchSpace space(graph, cluster, {DegreeSet::pow2, seed % 2 == 0, seed % 3 == 0});
    const auto build = [&](TableDetail detail) {
      return build_cost_tables(graph, cluster, models, SyncAlgorithm::ring, {.dtypes = DType::fp32},
                               space, {0, nullptr, detail});
    };
    const CostTables exact = build(TableDetail::exact);
    EXPECT_EQ(exact.detail, TableDetail::exact);
    for (const TableDetail detail : {TableDetail::sampled, TableDetail::bounds}) {
      const CostTables lower = build(detail);
      for (std::size_t e = 0; e < exact.edges.size(); ++e) {
        for (std::size_t k = 0; k < exact.edges[e].table->seconds.size(); ++k) {
          ASSERT_LE(lower.edges[e].table->seconds[k],
                    exact.edges[e].table->seconds[k] * (1 + 1e-12) + exact.quantum);
        }
      }
    }
  }
}

// Eq1 asks a table where many pairs of shards meet; the referee adds up every one of them.
TEST(Eq1, WideEdgesAreTheSumOverAllPairs) {
  GraphBuilder builder("wide", 64);
  LayerId at = builder.add("in", Input{{{1, 8, 1, 32, 32}}}, {});
  Convolution conv;
  conv.out_channels = 64;
  conv.windows.h = conv.windows.w = {3, 1, 1, 1, 1};
  at = builder.add("a", conv, {at});
  at = builder.add("b", conv, {at});
  at = builder.add("flat", Flatten{}, {at});
  builder.add("fc", FullyConnected{512}, {at});
  const Graph graph = std::move(builder).build();
  const auto model = make_cost_model(load_profile("p100"));
  for (const char* name : {"p100-16x4", "h200-8x8"}) {
    const Cluster cluster = load_cluster(name);
    const std::vector<const CostModel*> models(cluster.device_count(), model.get());
    Eq1 eq1(graph, cluster, models, SyncAlgorithm::ring, {.dtypes = DType::fp32});
    const SearchSpace space(graph, cluster);
    Random random(9);
    for (int i = 0; i < 60; ++i) {
      const LayerId consumer = graph.find(i % 3 == 0 ? "b" : i % 3 == 1 ? "flat" : "fc");
      const auto config = [&](LayerId layer) {
        const Cuts& cuts = *space[*space.variable_of(layer)].cuts;
        for (;;) {
          const Cut& cut = cuts[random() % cuts.size()];
          if (cut.shards() == 64) return config_of(cut);
        }
      };
      const Config from = config(graph[consumer].inputs.front()), to = config(consumer);
      std::vector<double> there(cluster.links().size()), back(there);
      double latency = 0, latency_back = 0;
      for (const NeededBox& needed : needed_boxes(graph, consumer, 0, from, to)) {
        if (needed.local()) continue;
        const auto bytes = static_cast<double>(4 * volume(needed.box));
        for (LinkId l : cluster.route(needed.owner, needed.reader)) there[l()] += bytes;
        for (LinkId l : cluster.route(needed.reader, needed.owner)) back[l()] += bytes;
        latency = std::max(latency, cluster.latency(needed.owner, needed.reader).value);
        latency_back = std::max(latency_back, cluster.latency(needed.reader, needed.owner).value);
      }
      double slowest = 0, slowest_back = 0;
      for (std::size_t l = 0; l < there.size(); ++l) {
        const double bandwidth = cluster.links()[l].bandwidth.value;
        slowest = std::max(slowest, there[l] / bandwidth);
        slowest_back = std::max(slowest_back, back[l] / bandwidth);
      }
      EXPECT_EQ(eq1.transfer(consumer, 0, from, to, true).value,
                (latency + slowest) + (latency_back + slowest_back));
    }
  }
}

// VGG-16's tables of every config of 64 devices are gigabytes. Who is called off before they are
// made touches none of them: that would take many seconds in which nobody could be called off.
TEST(CostTables, TouchNoMemoryOnceCalledOff) {
  const auto touched_kilobytes = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  const Graph graph = build_zoo("vgg16", 64);
  const Cluster cluster = preset_cluster("p100-8x8");
  SearchOptions search;
  search.degrees = DegreeSet::all;
  search.host_placement = true;
  const SearchSpace space(graph, cluster, search);
  const auto model = make_cost_model(load_profile("p100"));
  const std::vector<const CostModel*> models(cluster.device_count(), model.get());
  const std::atomic<bool> cancelled = true;
  const auto before = touched_kilobytes();
  EXPECT_THROW(build_cost_tables(graph, cluster, models, SyncAlgorithm::ring, {}, space,
                                 {.threads = 2, .cancelled = &cancelled}),
               Cancelled);
  EXPECT_LT(touched_kilobytes() - before, 100 << 10);
}

}  // namespace
}  // namespace strata
