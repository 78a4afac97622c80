#include "sim/strategy/search_space.h"

#include <random>
#include <set>

#include <gtest/gtest.h>

#include "sim/cluster/presets.h"
#include "sim/graph/zoo.h"

namespace strata {
namespace {

using Names = std::vector<std::vector<std::string>>;

// data -> norm -> conv -> bn -> relu --+--> add -> relu2 -> drop -> fc -> loss
//                          relu -> pool +
class Space : public ::testing::Test {
 protected:
  static Graph network(std::int64_t batch) {
    GraphBuilder b("net", batch);
    const LayerId data = b.add("data", Input{{{1, 8, 1, 4, 4}}}, {});
    const LayerId norm = b.add("norm", BatchNorm{}, {data});
    Convolution one;
    one.out_channels = 8;
    const LayerId conv = b.add("conv", one, {norm});
    const LayerId bn = b.add("bn", BatchNorm{}, {conv});
    const LayerId relu = b.add("relu", Activation{}, {bn});
    Pooling pooling;
    pooling.windows.h =
        pooling.windows.w = {.kernel = 3, .stride = 1, .pad_begin = 1, .pad_end = 1};
    const LayerId pool = b.add("pool", pooling, {relu});
    const LayerId add = b.add("add", Add{}, {relu, pool});
    const LayerId relu2 = b.add("relu2", Activation{}, {add});
    const LayerId drop = b.add("drop", Dropout{}, {relu2});
    const LayerId fc = b.add("fc", FullyConnected{3}, {drop});
    b.add("loss", SoftmaxCrossEntropy{}, {fc});
    return std::move(b).build();
  }
  static SearchOptions degrees(DegreeSet set) { return {set, false, false, ReductionCuts::none}; }
  static SearchOptions whole_sums() { return {.reductions = ReductionCuts::none}; }

  Names layers(const SearchSpace& space) const {
    Names names;
    for (std::size_t v = 0; v < space.size(); ++v) {
      names.emplace_back();
      for (LayerId layer : space[v].layers) names.back().push_back(graph_[layer].name);
    }
    return names;
  }
  std::vector<std::array<std::int32_t, 5>> cuts(const SearchSpace& space, const char* layer) const {
    std::vector<std::array<std::int32_t, 5>> all;
    for (const Cut& cut : *space[*space.variable_of(graph_.find(layer))].cuts) {
      all.push_back(cut.degrees.values);
    }
    return all;
  }

  Graph graph_ = network(6);
};

TEST_F(Space, ElementwiseLayersFollowTheirProducerButNotTheNetworksInput) {
  const SearchSpace space(graph_, preset_cluster("p100-1x4"));
  EXPECT_EQ(
      layers(space),
      (Names{
          {"norm"}, {"conv", "bn", "relu"}, {"pool"}, {"add", "relu2", "drop"}, {"fc"}, {"loss"}}));
  EXPECT_EQ(space.variable_of(graph_.find("data")), std::nullopt);
  EXPECT_EQ(space.variable_of(graph_.find("drop")), 3u);
}

TEST_F(Space, FreeElementwiseLayersChooseForThemselves) {
  SearchOptions options;
  options.free_elementwise = true;
  EXPECT_EQ(SearchSpace(graph_, preset_cluster("p100-1x4"), options).size(), 10u);
}

TEST_F(Space, CutsAreInOrderAndFitTheDevicesAndTheExtents) {
  // fc is 6 x 3: in c at most 2 of the powers of two.
  const SearchSpace space(graph_, preset_cluster("p100-1x4"), whole_sums());
  const std::vector<std::array<std::int32_t, 5>> expected = {
      {1, 1, 1, 1, 1}, {1, 2, 1, 1, 1}, {2, 1, 1, 1, 1}, {2, 2, 1, 1, 1}, {4, 1, 1, 1, 1}};
  EXPECT_EQ(cuts(space, "fc"), expected);
}

// On two devices in n, c or r, whose sums are divided in n or c. What follows is cut as the output
// lies.
TEST_F(Space, SumsMayBeCutInRAndScattered) {
  const Cluster two = preset_cluster("p100-1x2");
  const Cuts fc = *SearchSpace(graph_, two)[4].cuts;
  std::vector<Degrees> degrees;
  for (const Cut& cut : fc) degrees.push_back(cut.degrees);
  EXPECT_EQ(degrees, (std::vector<Degrees>{{{1, 1, 1, 1, 1}},
                                           {{1, 1, 1, 1, 1}, 2, Dim::n},
                                           {{1, 1, 1, 1, 1}, 2, Dim::c},
                                           {{1, 2, 1, 1, 1}},
                                           {{2, 1, 1, 1, 1}}}));
  EXPECT_EQ(SearchSpace(graph_, two)[1].cuts->size(), 5u);  // a convolution: n c h w, whole
  const SearchSpace all(graph_, two, {.reductions = ReductionCuts::all});
  EXPECT_EQ(all[1].cuts->size(), 9u);
  std::vector<std::uint32_t> choices(all.size(), 0);
  choices[1] = 2;
  const Strategy strategy = all.strategy("r", choices);
  EXPECT_EQ(strategy[graph_.find("conv")].degrees, (Degrees{{1, 1, 1, 1, 1}, 2, Dim::c}));
  EXPECT_EQ(strategy[graph_.find("bn")].degrees, (Degrees{{1, 2, 1, 1, 1}}));
  EXPECT_EQ(all.choices(strategy), choices);
}

TEST_F(Space, DivisorsAndAllDegrees) {
  const Cluster six = preset_cluster("p100-1x6");
  const std::vector<std::array<std::int32_t, 5>> divisors = {
      {1, 1, 1, 1, 1}, {1, 2, 1, 1, 1}, {1, 3, 1, 1, 1}, {2, 1, 1, 1, 1}, {2, 2, 1, 1, 1},
      {2, 3, 1, 1, 1}, {3, 1, 1, 1, 1}, {3, 2, 1, 1, 1}, {6, 1, 1, 1, 1}};
  EXPECT_EQ(cuts(SearchSpace(graph_, six, degrees(DegreeSet::divisors)), "fc"), divisors);
  std::vector<std::array<std::int32_t, 5>> all = divisors;
  all.insert(all.end() - 1, {{4, 1, 1, 1, 1}, {5, 1, 1, 1, 1}});
  EXPECT_EQ(cuts(SearchSpace(graph_, six, degrees(DegreeSet::all)), "fc"), all);
}

TEST_F(Space, EqualExtentsShareTheirCuts) {
  const SearchSpace space(graph_, preset_cluster("p100-1x4"), whole_sums());
  EXPECT_EQ(space[0].cuts, space[3].cuts);  // norm and add
  EXPECT_EQ(space[4].cuts, space[5].cuts);  // fc and loss
  EXPECT_NE(space[0].cuts, space[4].cuts);
}

TEST_F(Space, CountsItsStrategies) {
  // n c h w of 6 8 4 4 on 2 devices: whole, or one dim in two; fc and loss: whole, n or c.
  const SearchSpace space(graph_, preset_cluster("p100-1x2"), whole_sums());
  EXPECT_EQ(space.max_choices(), 5u);
  EXPECT_DOUBLE_EQ(space.log10_strategies(), std::log10(5. * 5 * 5 * 5 * 3 * 3));
}

TEST_F(Space, ThousandAndTwentyFourDevicesGive1001Cuts) {
  // Exponents of n c h w that sum to at most 10: (14 choose 4).
  GraphBuilder b("cube", 1024);
  const LayerId data = b.add("data", Input{{{1, 1024, 1, 1024, 1024}}}, {});
  b.add("pool", Pooling{}, {data});
  const Graph graph = std::move(b).build();
  EXPECT_EQ(SearchSpace(graph, preset_cluster("p100-256x4")).max_choices(), 1001u);
}

TEST_F(Space, HostPlacementAddsTheNumberingsWithAnotherDimOutermost) {
  SearchOptions options;
  options.host_placement = true;
  options.reductions = ReductionCuts::none;
  const SearchSpace space(graph_, preset_cluster("p100-2x2"), options);
  const SearchSpace row_major(graph_, preset_cluster("p100-2x2"), whole_sums());
  std::vector<Cut> expected;
  for (const Cut& cut : *row_major[4].cuts) {
    expected.push_back(cut);
    // Both devices of a host hold the same samples, or the same channels.
    if (cut.degrees == Degrees{{2, 2, 1, 1, 1}}) {
      EXPECT_EQ(cut.strides, (PerDim<std::int32_t>{{2, 1, 1, 1, 1}}));
      expected.push_back({cut.degrees, {{1, 2, 1, 1, 1}}});
    }
  }
  EXPECT_EQ(*space[4].cuts, expected);
}

TEST_F(Space, OneHostNeedsNoPlacement) {
  SearchOptions options;
  options.host_placement = true;
  const Cluster one_host = preset_cluster("p100-1x4");
  EXPECT_EQ(*SearchSpace(graph_, one_host, options)[0].cuts,
            *SearchSpace(graph_, one_host)[0].cuts);
}

TEST(Cut, ShardsSitWhereTheStridesSay) {
  const std::vector<DeviceId> swapped = {DeviceId(0), DeviceId(2), DeviceId(4),
                                         DeviceId(1), DeviceId(3), DeviceId(5)};
  const Cut cut{{{2, 3, 1, 1, 1}}, {{1, 2, 1, 1, 1}}};
  EXPECT_EQ(config_of(cut), (Config{cut.degrees, swapped}));
  EXPECT_EQ(config_of(row_major_cut(cut.degrees)), config_on_first_devices(cut.degrees));
}

TEST_F(Space, ChoicesAndStrategiesRoundTrip) {
  SearchOptions options{DegreeSet::all, false, true, ReductionCuts::all};
  const SearchSpace space(graph_, preset_cluster("p100-3x2"), options);
  std::mt19937 random(1);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::uint32_t> choices;
    for (std::size_t v = 0; v < space.size(); ++v) {
      choices.push_back(static_cast<std::uint32_t>(random() % space[v].cuts->size()));
    }
    const Strategy strategy = space.strategy("random", choices);
    EXPECT_TRUE(validate(strategy, graph_, preset_cluster("p100-3x2")).empty());
    EXPECT_EQ(space.choices(strategy), choices);
  }
}

TEST_F(Space, AStrategyOutsideTheSpaceHasNoChoices) {
  const SearchSpace space(graph_, preset_cluster("p100-1x4"));
  EXPECT_TRUE(space.choices(data_parallel(graph_, 4)).has_value());
  EXPECT_FALSE(space.choices(data_parallel(graph_, 3)).has_value());  // 3 is no power of two
  const Strategy data = data_parallel(graph_, 4);
  std::vector<Config> configs(data.configs().begin(), data.configs().end());
  configs[graph_.find("relu")()] = config_on_first_devices({{2, 1, 1, 1, 1}});
  EXPECT_FALSE(space.choices({"relu elsewhere", configs}).has_value());
  configs = {data.configs().begin(), data.configs().end()};
  std::vector<DeviceId> devices(configs.back().devices.begin(), configs.back().devices.end());
  std::swap(devices[0], devices[1]);
  configs.back().devices = devices;
  EXPECT_FALSE(space.choices({"other devices", configs}).has_value());
}

}  // namespace
}  // namespace strata
