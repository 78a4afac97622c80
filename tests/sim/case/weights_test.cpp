#include "sim/case/weights.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/case/network.h"
#include "sim/graph/zoo.h"
#include "sim/importers/npy/npy.h"
#include "tests/folder.h"

namespace strata {
namespace {

using strata::testing::Folder;

Convolution convolution(int rank, std::int64_t channels, Windows windows, std::int64_t groups) {
  Convolution op;
  op.rank = rank;
  op.out_channels = channels;
  op.windows = windows;
  op.groups = groups;
  return op;
}

// Every kind of layer with parameters; one convolution without a bias.
Graph network(const std::string& convolution_name = "conv") {
  GraphBuilder net("net", 2);
  const LayerId data = net.add("data", Input{{{1, 4, 3, 6, 5}}}, {});
  Convolution op = convolution(3, 6, {{.kernel = 2}, {.kernel = 3}, {.kernel = 1}}, 2);
  op.bias = false;
  const LayerId conv = net.add(convolution_name, op, {data});
  const LayerId norm = net.add("norm", BatchNorm{}, {conv});
  const LayerId plain = net.add("plain", LayerNorm{.affine = false}, {norm});
  const LayerId rows = net.add("rows", LayerNorm{}, {plain});
  const LayerId fc = net.add("fc", FullyConnected{.out_features = 3}, {rows});
  net.add("loss", SoftmaxCrossEntropy{}, {fc});
  return std::move(net).build();
}

TEST(Weights, HaveTheShapesOfPyTorch) {
  const Graph graph = network();
  using Shape = std::vector<std::int64_t>;
  EXPECT_EQ(weight_shape(graph[graph.find("conv")]), (Shape{6, 2, 2, 3, 1}));
  EXPECT_EQ(weight_shape(graph[graph.find("norm")]), (Shape{6}));
  EXPECT_EQ(weight_shape(graph[graph.find("rows")]), (Shape{6}));
  EXPECT_EQ(weight_shape(graph[graph.find("fc")]), (Shape{3, 6 * 2 * 4 * 5}));
  const Graph lenet = build_zoo("lenet5", 1);
  EXPECT_EQ(weight_shape(lenet[lenet.find("conv1")]), (Shape{6, 1, 5, 5}));
}

TEST(Weights, StartWithinTheBoundOfTheirFanIn) {
  const Graph graph = network();
  const NetworkWeights weights = initial_weights(graph, 1);
  ASSERT_EQ(weights.size(), graph.size());
  const auto largest = [&](const char* layer) {
    float most = 0;
    for (float value : weights[graph.find(layer)()]) most = std::max(most, std::abs(value));
    return most;
  };
  // Fan-ins 2 x 2 x 3 x 1 and 240; of 72 and 723 draws, the largest comes near.
  EXPECT_LE(largest("conv"), 1 / std::sqrt(12.0F));
  EXPECT_GE(largest("conv"), 0.9F / std::sqrt(12.0F));
  EXPECT_LE(largest("fc"), 1 / std::sqrt(240.0F));
  EXPECT_GE(largest("fc"), 0.95F / std::sqrt(240.0F));
  EXPECT_EQ(weights[graph.find("norm")()],
            (std::vector<float>{1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(initial_weights(graph.with_batch(7), 1), weights);
  EXPECT_NE(initial_weights(graph, 2), weights);
  EXPECT_NE(initial_weights(network("other"), 1)[1], weights[1]);
}

TEST(Weights, OfTokensHaveTheShapesAndTheBeginningOfTheirKinds) {
  GraphBuilder net("tokens", 1);
  const LayerId data = net.add("data", Input{{{1, 1, 1, 1, 3}}}, {});
  LayerId at = net.add("vectors", Embedding{500, 8}, {data});
  at = net.add("positions", PositionEmbedding{7}, {net.add("first", ClassToken{}, {at})});
  at = net.add("norm", RmsNorm{}, {at});
  net.add("loss", SoftmaxCrossEntropy{}, {net.add("head", Linear{500, false, "vectors"}, {at})});
  const Graph graph = std::move(net).build();
  const auto shape = [&](const char* layer) { return weight_shape(graph[graph.find(layer)]); };
  EXPECT_EQ(shape("vectors"), (std::vector<std::int64_t>{500, 8}));
  EXPECT_EQ(shape("positions"), (std::vector<std::int64_t>{8, 7}));
  EXPECT_EQ(shape("first"), (std::vector<std::int64_t>{8}));
  EXPECT_EQ(shape("norm"), (std::vector<std::int64_t>{8}));
  const NetworkWeights weights = initial_weights(graph, 1);
  const auto of = [&](const char* layer) { return weights[graph.find(layer)()]; };
  EXPECT_EQ(of("first"), std::vector<float>(8));
  EXPECT_EQ(of("norm"), std::vector<float>(8, 1));
  EXPECT_TRUE(of("head").empty());
  double squares = 0;
  for (float x : of("vectors")) squares += static_cast<double>(x) * static_cast<double>(x);
  EXPECT_NEAR(std::sqrt(squares / 4000), 0.02, 0.001);
  const Folder folder("of_tokens");
  write_weights(folder.file("weights"), graph, weights);
  EXPECT_EQ(read_weights(folder.file("weights"), graph), weights);
}

TEST(Weights, ComeBackFromTheirFolder) {
  const Folder folder("comes_back");
  const Graph graph = network();
  const NetworkWeights weights = initial_weights(graph, 3);
  const std::string target = folder.file("weights");
  check_new_folder(target);
  write_weights(target, graph, weights);
  EXPECT_EQ(read_weights(target, graph), weights);
  EXPECT_THROW(check_new_folder(target), InputError);
  std::filesystem::create_directory(folder.file("empty"));
  check_new_folder(folder.file("empty"));
  write_weights(folder.file("empty") + "/", graph, weights);
  EXPECT_EQ(read_weights(folder.file("empty"), graph), weights);
}

TEST(Weights, ListAllThatIsMissingOrOfTheWrongShape) {
  const Folder folder("missing");
  const Graph graph = network();
  const std::string target = folder.file("weights");
  write_weights(target, graph, initial_weights(graph, 1));
  std::filesystem::remove(target + "/norm.bias.npy");
  const std::vector<float> four(4);
  write_npy(target + "/fc.bias.npy", std::vector<std::int64_t>{4}, four);
  try {
    read_weights(target, graph);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.message(), target +
                                   "/norm.bias.npy: cannot be read: No such file or directory\n" +
                                   target + "/fc.bias.npy: its shape is (4); allowed: (3)");
  }
}

TEST(Weights, AreFinite) {
  const Folder folder("finite");
  const Graph graph = network();
  const std::string target = folder.file("weights");
  write_weights(target, graph, initial_weights(graph, 1));
  write_npy(target + "/fc.bias.npy", std::vector<std::int64_t>{3},
            std::vector<float>{1, -HUGE_VALF, 1});
  try {
    read_weights(target, graph);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.message(), target + "/fc.bias.npy: element 1 is -inf; allowed: finite numbers");
  }
}

// Before the training, not when it is done.
TEST(Weights, HaveFilesNamedAsTheirLayers) {
  EXPECT_NO_THROW(check_weight_files(network(std::string(244, 'n'))));
  EXPECT_THROW(check_weight_files(network(std::string(245, 'n'))), InputError);
  EXPECT_THROW(check_weight_files(network("a/b")), InputError);
}

TEST(Weights, AreWrittenWholeOrNotAtAll) {
  const Folder folder("whole");
  const Graph graph = network("a/b");
  EXPECT_THROW(write_weights(folder.file("weights"), graph, initial_weights(graph, 1)), InputError);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  EXPECT_THROW(check_new_folder(folder.file("not/there")), EnvironmentError);
}

TEST(StartingWeights, AreTheFilesWhereItHasThem) {
  Network named{network(), {}, {}};
  const NetworkWeights initial = initial_weights(named.graph, 7);
  EXPECT_EQ(starting_weights(named, 7), initial);
  named.weights.resize(named.graph.size());
  const LayerId norm = named.graph.find("norm");
  named.weights[norm()].assign(initial[norm()].size(), 0.5F);
  NetworkWeights expected = initial;
  expected[norm()] = named.weights[norm()];
  EXPECT_EQ(starting_weights(named, 7), expected);
}

}  // namespace
}  // namespace strata
