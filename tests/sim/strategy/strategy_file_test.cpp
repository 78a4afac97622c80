#include "sim/strategy/strategy_file.h"

#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/cluster/presets.h"
#include "sim/graph/zoo.h"

namespace strata {
namespace {

// data (1) -> conv1, ... of lenet5, on four P100s of one host.
class StrategyFile : public ::testing::Test {
 protected:
  std::string error(const std::string& json) const {
    try {
      parse_strategy(json, "s.json", graph_, cluster_);
    } catch (const InputError& e) {
      return e.message();
    }
    return "no error";
  }

  Graph graph_ = build_zoo("lenet5", 8);
  Cluster cluster_ = preset_cluster("p100-1x4");
};

TEST_F(StrategyFile, BaselinesRoundTrip) {
  for (const Strategy& strategy :
       {data_parallel(graph_, 4), model_parallel(graph_, 4), owt_parallel(graph_, 3)}) {
    const std::string text = print_strategy(strategy, graph_, cluster_);
    EXPECT_EQ(parse_strategy(text, "s.json", graph_, cluster_), strategy);
  }
}

TEST_F(StrategyFile, DevicesRoundTrip) {
  std::vector<Config> configs;
  for (std::size_t i = 0; i < graph_.size(); ++i) {
    configs.push_back({{{2, 1, 1, 1, 1}}, {DeviceId(3), DeviceId(i % 3)}});
  }
  const Strategy strategy("placed", configs);
  const std::string text = print_strategy(strategy, graph_, cluster_);
  EXPECT_EQ(parse_strategy(text, "s.json", graph_, cluster_), strategy);
}

TEST_F(StrategyFile, SegmentsRoundTrip) {
  Segments segments(graph_.size());
  for (const std::size_t i : {1u, 2u, 4u}) segments[i] = 1;
  segments[5] = segments[6] = 2;
  const Strategy strategy = data_parallel(graph_, 4).with(segments);
  const std::string text = print_strategy(strategy, graph_, cluster_);
  EXPECT_EQ(parse_strategy(text, "s.json", graph_, cluster_), strategy);
}

TEST_F(StrategyFile, LayersOfOneLabelAreASegment) {
  const Strategy strategy = parse_strategy(
      R"({"default": {"n": 4}, "layers": [
        {"name": "fc1", "config": {"n": 4}, "recompute": "the end"},
        {"name": "conv1", "config": {"n": 4}, "recompute": "a label"},
        {"name": "conv2", "config": {"n": 4}, "recompute": "a label"},
        {"name": "fc2", "config": {"n": 4}, "recompute": null}]})",
      "s.json", graph_, cluster_);
  Segments expected(graph_.size());
  expected[graph_.find("conv1")()] = expected[graph_.find("conv2")()] = 1;
  expected[graph_.find("fc1")()] = 2;
  EXPECT_EQ(strategy.segments(), expected);
}

TEST_F(StrategyFile, RefusesWhatIsNoSegment) {
  EXPECT_EQ(error(R"({"default": {}, "layers": [
        {"name": "conv1", "config": {}, "recompute": 1},
        {"name": "conv2", "config": {}, "recompute": ""},
        {"name": "input", "config": {}, "recompute": "a"}]})"),
            "s.json:2: layer conv1: recompute must be the label of a segment, a string; allowed: "
            "\"block 1\" and the like\n"
            "s.json:3: layer conv2: recompute must be the label of a segment, a string; allowed: "
            "\"block 1\" and the like\n"
            "s.json:4: layer input: recompute is for layers that compute; allowed: none for the "
            "network's inputs");
  EXPECT_EQ(
      error(R"({"default": {}, "layers": [
        {"name": "conv1", "config": {}, "recompute": "a"},
        {"name": "conv2", "config": {}, "recompute": "b"},
        {"name": "fc1", "config": {}, "recompute": "a"}]})"),
      "s.json:4: layer fc1: recompute 'a': layers of another label come between those of this "
      "one; allowed: a label of its own");
}

TEST_F(StrategyFile, ADefaultServesTheLayersThatAreNotListed) {
  const Strategy strategy = parse_strategy(
      R"({"strategy": "d", "default": {"n": 4}, "layers": []})", "s.json", graph_, cluster_);
  EXPECT_EQ(strategy.configs().size(), graph_.size());
  for (const Config& config : strategy.configs()) {
    EXPECT_EQ(config.degrees, (Degrees{{4, 1, 1, 1, 1}}));
  }
}

TEST_F(StrategyFile, TakesNullForAbsent) {
  const Strategy plain =
      parse_strategy(R"({"default": {"n": 4}, "layers": [{"name": "conv1", "config": {"h": 2}}]})",
                     "s.json", graph_, cluster_);
  const Strategy with_nulls = parse_strategy(
      R"({"strategy": null, "model": null, "cluster": null, "default": {"n": 4, "c": null},
          "layers": [{"name": "conv1", "config": {"n": null, "h": 2}, "devices": null}]})",
      "s.json", graph_, cluster_);
  EXPECT_EQ(with_nulls, plain);
  EXPECT_EQ(error(R"({"default": null})"), error("{}"));
  EXPECT_EQ(error(R"({"default": {}, "layers": [{"name": "conv1", "config": null}]})"),
            "s.json:1: layer conv1: missing key 'config'; allowed: {\"n\": 2} and the like");
}

TEST_F(StrategyFile, ErrorsNameTheLayerAndTheDim) {
  EXPECT_EQ(error("{\n\"default\": {},\n\"layers\": [\n{\"name\": \"conv1\", \"config\": {\"n\": "
                  "9}}]}"),
            "s.json:4: layer conv1: the degree in n must be an integer from 1 to 8, its extent");
  EXPECT_EQ(error(R"({"default": {"h": 0}, "layers": []})"),
            "s.json:1: default: the degree in h must be an integer of at least 1");
  EXPECT_EQ(error(R"({"default": {}, "layers": [{"name": "nowhere", "config": {}}]})"),
            "s.json:1: layer nowhere: network lenet5 has no such layer; allowed: input, conv1, "
            "tanh1, pool1, conv2, tanh2, pool2, flatten, ...");
  EXPECT_EQ(error(R"({"default": {}, "layers": [{"name": "conv1", "config": {"n": 8}}]})"),
            "s.json:1: layer conv1: 8 shards; cluster p100-1x4 has 4 devices");
  EXPECT_EQ(error(R"({"model": "vgg16", "default": {}, "layers": []})"),
            "s.json:1: the strategy is for model vgg16; allowed: lenet5");
  EXPECT_EQ(error(R"({"default": {"x": 2}, "layers": []})"),
            "s.json:1: default: unknown dim 'x'; allowed: n, c, d, h, w, r");
}

class CutsInR : public StrategyFile {
 protected:
  std::string with(const std::string& layers) const {
    return R"({"default": {}, "layers": [)" + layers + "]}";
  }
  Degrees fc1(const std::string& layers) const {
    const Strategy strategy = parse_strategy(with(layers), "s.json", graph_, cluster_);
    return strategy[graph_.find("fc1")].degrees;
  }
};

TEST_F(CutsInR, AreScatteredAsTheReaderIsCut) {
  EXPECT_EQ(fc1(R"({"name": "fc1", "config": {"r": 4}})"), (Degrees{{1, 1, 1, 1, 1}, 4, Dim::n}));
  EXPECT_EQ(fc1(R"({"name": "fc1", "config": {"r": 4}}, {"name": "tanh3", "config": {"c": 4}})"),
            (Degrees{{1, 1, 1, 1, 1}, 4, Dim::c}));
  EXPECT_EQ(fc1(R"({"name": "fc1", "config": {"n": 2, "r": 2, "scatter": "c"}})"),
            (Degrees{{2, 1, 1, 1, 1}, 2, Dim::c}));
  // 8 samples in 4 parts leave 2.
  EXPECT_EQ(fc1(R"({"name": "fc1", "config": {"n": 1, "r": 3}})"),
            (Degrees{{1, 1, 1, 1, 1}, 3, Dim::n}));
}

TEST_F(CutsInR, RoundTrip) {
  const Strategy strategy =
      parse_strategy(with(R"({"name": "fc1", "config": {"n": 2, "r": 2, "scatter": "c"}})"),
                     "s.json", graph_, cluster_);
  const std::string text = print_strategy(strategy, graph_, cluster_);
  EXPECT_EQ(parse_strategy(text, "s.json", graph_, cluster_), strategy);
  EXPECT_TRUE(validate(strategy, graph_, cluster_).empty());
}

TEST_F(CutsInR, ADefaultIsClippedToTheTermsThatThereAre) {
  const Strategy strategy = parse_strategy(R"({"default": {"r": 4}})", "s.json", graph_, cluster_);
  EXPECT_EQ(strategy[graph_.find("conv2")].degrees.r, 4);
  EXPECT_EQ(strategy[graph_.find("conv1")].degrees, kWhole);  // one input channel
  EXPECT_EQ(strategy[graph_.find("tanh1")].degrees, kWhole);
}

TEST_F(CutsInR, ErrorsSayWhy) {
  EXPECT_EQ(error(with(R"({"name": "loss", "config": {"r": 2}})")),
            "s.json:1: layer loss: the degree in r must be an integer from 1 to 1, for copies of a "
            "loss would count twice");
  EXPECT_EQ(error(with(R"({"name": "tanh1", "config": {"r": 2}})")), "no error");  // copies
  EXPECT_EQ(error(with(R"({"name": "conv2", "config": {"r": 7}})")),
            "s.json:1: layer conv2: the degree in r must be an integer from 1 to 6, its input "
            "channels");
  EXPECT_EQ(error(with(R"({"name": "fc1", "config": {"r": 2, "scatter": "k"}})")),
            "s.json:1: layer fc1: scatter must be one of n, c, d, h, w");
  EXPECT_EQ(error(with(R"({"name": "fc1", "config": {"n": 2, "scatter": "n"}})")),
            "s.json:1: layer fc1: scatter is for a layer that is cut in r");
  EXPECT_EQ(
      error(with(R"({"name": "fc1", "config": {"r": 2, "scatter": "h"}})")),
      "s.json:1: layer fc1: its output can't be scattered along h by degree 1 and 2 shards of "
      "each sum; allowed: up to 1, its extent");
}

TEST_F(StrategyFile, DevicesMustExistAndStandOnce) {
  const auto with = [](const std::string& devices) {
    return R"({"default": {}, "layers": [{"name": "conv1", "config": {"n": 2}, "devices": )" +
           devices + "}]}";
  };
  const std::string first = cluster_[DeviceId(0)].name;
  EXPECT_EQ(error(with("[\"" + first + "\", \"moon\"]")),
            "s.json:1: layer conv1: cluster p100-1x4 has no device moon; allowed: gpu0, gpu1, "
            "gpu2, gpu3");
  EXPECT_EQ(error(with("[\"" + first + "\", \"" + first + "\"]")),
            "s.json:1: layer conv1: device " + first + " listed twice; allowed: each once");
  EXPECT_EQ(error(with("[\"" + first + "\"]")),
            "s.json:1: layer conv1: 1 devices for 2 shards; allowed: one device a shard");
}

TEST_F(StrategyFile, ALayerWithoutAConfigIsAnErrorNotADefault) {
  const std::string message = error(R"({"layers": []})");
  EXPECT_EQ(message.substr(0, message.find('\n')),
            "s.json:1: layer conv1: no config; allowed: one for every layer, or a 'default'");
}

}  // namespace
}  // namespace strata
