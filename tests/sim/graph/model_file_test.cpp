#include "sim/graph/model_file.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/graph/op.h"
#include "sim/graph/ops/window.h"
#include "sim/graph/zoo.h"
#include "tests/paths.h"

namespace strata {
namespace {

std::string model_error(const std::string& text) {
  try {
    parse_model(text, "net.toml", 4);
  } catch (const InputError& error) {
    return error.message();
  }
  return "no error";
}

/// `layer` on line 6 and after, behind an input of 6 x 5 x 3 on lines 2 to 5.
std::string error_of_layer(const std::string& layer) {
  return model_error(
      "name = \"net\"\n"
      "[[layer]]\nname = \"data\"\nop = \"input\"\nshape = [6, 5, 3]\n" +
      layer);
}

TEST(ModelFile, ReadsANetworkAsTheBuilderWouldBuildIt) {
  const Graph graph = parse_model(R"(
name = "tiny"

[[layer]]
name = "data"
op = "input"
shape = [3, 8, 8]

[[layer]]
name = "conv"
op = "conv2d"
out_channels = 4
kernel = [3, 1]
stride = 2
padding = [[0, 1], [0, 0]]
bias = false

[[layer]]
name = "skip"
op = "avg_pool2d"
inputs = ["data"]
kernel = 2
count_include_pad = false

[[layer]]
name = "both"
op = "concat"
inputs = ["conv", "skip"]
)",
                                  "tiny.toml", 16);
  Windows windows;
  windows.h = {.kernel = 3, .stride = 2, .pad_begin = 0, .pad_end = 1};
  windows.w = {.kernel = 1, .stride = 2};
  Windows pool;
  pool.h = pool.w = {.kernel = 2, .stride = 2};
  GraphBuilder builder("tiny", 16);
  const LayerId data = builder.add("data", Input{{{1, 3, 1, 8, 8}}}, {});
  const LayerId conv = builder.add("conv", Convolution{2, 4, windows, 1, false}, {data});
  const LayerId skip =
      builder.add("skip", Pooling{2, PoolMode::average, pool, false, false}, {data});
  builder.add("both", Concat{}, {conv, skip});
  EXPECT_EQ(graph, std::move(builder).build());
}

TEST(ModelFile, AShapeOfOneToFourNumbersIsCThenTheLastDims) {
  const auto shape = [](const std::string& list) {
    return parse_model("name = \"x\"\n[[layer]]\nname = \"data\"\nop = \"input\"\nshape = " + list,
                       "x.toml", 2)[LayerId(0)]
        .output;
  };
  EXPECT_EQ(shape("[7]"), (Extents{{2, 7, 1, 1, 1}}));
  EXPECT_EQ(shape("[7, 5]"), (Extents{{2, 7, 1, 1, 5}}));
  EXPECT_EQ(shape("[7, 4, 5]"), (Extents{{2, 7, 1, 4, 5}}));
  EXPECT_EQ(shape("[7, 3, 4, 5]"), (Extents{{2, 7, 3, 4, 5}}));
}

TEST(ModelFile, EveryNetworkOfTheZooRoundTrips) {
  for (const ZooEntry& entry : zoo()) {
    const Graph graph = build_zoo(entry.name, 32);
    EXPECT_EQ(parse_model(print_model(graph), "zoo.toml", 32), graph) << entry.name;
  }
}

/// A one-layer network for the op, with each of its values away from its default.
Graph unusual(Op op) {
  Extents in = {{1, 8, 9, 9, 9}};
  const Window window = {.kernel = 3, .stride = 2, .pad_begin = 1, .pad_end = 0};
  const auto odd_windows = [&](int rank) {
    Windows windows;
    for (Dim dim : dims_of_rank(rank)) windows[dim] = window;
    windows.w.kernel = 2;
    return windows;
  };
  if (auto* conv = std::get_if<Convolution>(&op)) {
    *conv = {conv->rank, 4, odd_windows(conv->rank), 2, false};
    conv->windows.w.dilation = 2;
  } else if (auto* pool = std::get_if<Pooling>(&op)) {
    *pool = {pool->rank, pool->mode, odd_windows(pool->rank), true, false};
    if (pool->mode == PoolMode::max) pool->windows.w.dilation = 3;
  } else if (auto* adaptive = std::get_if<AdaptivePooling>(&op)) {
    adaptive->d = 2, adaptive->h = 3, adaptive->w = 4;
  } else if (auto* activation = std::get_if<Activation>(&op)) {
    activation->slope = 0.1;
  } else if (std::holds_alternative<FullyConnected>(op)) {
    op = FullyConnected{5, false};
  } else if (std::holds_alternative<Linear>(op)) {
    op = Linear{5, false};
  } else if (std::holds_alternative<Attention>(op)) {
    op = Attention{.head_size = 4,
                   .causal = true,
                   .window = 3,
                   .rotary = 500,
                   .rotary_size = 2,
                   .scale = 0.7,
                   .softcap = 50,
                   .value_size = 4,
                   .sinks = true};
    in = {{1, 8, 1, 1, 9}};
  } else if (std::holds_alternative<Embedding>(op)) {
    op = Embedding{7, 4, 2.5};
    in = {{1, 1, 1, 1, 9}};
  } else if (std::holds_alternative<PositionEmbedding>(op)) {
    op = PositionEmbedding{12};
    in = {{1, 8, 1, 1, 9}};
  } else if (std::holds_alternative<ClassToken>(op)) {
    in = {{1, 8, 1, 1, 9}};
  } else if (std::holds_alternative<SelectToken>(op)) {
    op = SelectToken{4};
    in = {{1, 8, 1, 1, 9}};
  } else if (std::holds_alternative<Router>(op)) {
    op = Router{6, 2, false, true, false, 3, 2, 2.5, true};
    in = {{1, 8, 1, 1, 9}};
  } else if (std::holds_alternative<Dispatch>(op)) {
    op = Dispatch{2, 3, 1.5};
    in = {{1, 8, 1, 1, 9}};
  } else if (std::holds_alternative<ExpertLinear>(op)) {
    op = ExpertLinear{5, true};
  } else if (auto* gate = std::get_if<GatedActivation>(&op)) {
    *gate = {gate->kind, 1.5, 3};
  } else if (std::holds_alternative<Combine>(op)) {
    op = Combine{3};
    in = {{1, 1, 1, 1, 9}};
  } else if (std::holds_alternative<RmsNorm>(op)) {
    op = RmsNorm{1e-3, 4};
    in = {{1, 8, 1, 1, 9}};
  } else if (std::holds_alternative<BatchNorm>(op)) {
    op = BatchNorm{1e-3};
  } else if (std::holds_alternative<LocalResponseNorm>(op)) {
    op = LocalResponseNorm{4, 0.3, 0.1, 2.5};
  } else if (std::holds_alternative<Dropout>(op)) {
    op = Dropout{1.0 / 3};
  } else if (std::holds_alternative<SoftmaxCrossEntropy>(op)) {
    in = {{1, 8, 1, 1, 1}};
  } else if (is_opaque(op)) {
    op = Opaque{"a \"kind\" \\", {{1, 2, 1, 3, 4}}, 5};
  }
  GraphBuilder builder("of one \"op\" \\", 3);
  const LayerId data = builder.add("data \"0\"", Input{in}, {});
  const bool two = std::holds_alternative<Add>(op) || std::holds_alternative<Concat>(op) ||
                   std::holds_alternative<Multiply>(op) ||
                   std::holds_alternative<GatedActivation>(op) ||
                   std::holds_alternative<Dispatch>(op) || std::holds_alternative<Combine>(op);
  const std::size_t inputs = std::holds_alternative<Attention>(op) ? 3 : two ? 2 : 1;
  builder.add("layer", op, std::vector(inputs, data));
  return std::move(builder).build();
}

TEST(ModelFile, EveryOpRoundTripsWithUnusualValues) {
  for (const Op& op : op_prototypes()) {
    if (is_input(op)) continue;
    const Graph graph = unusual(op);
    EXPECT_EQ(name(graph.layers().back().op), name(op));
    const std::string text = print_model(graph);
    EXPECT_EQ(parse_model(text, "op.toml", 3), graph) << text;
  }
}

TEST(ModelFile, KeysMayShareChannels) {
  const Graph graph = build_zoo(
      "llama:layers=1,hidden=8,heads=2,seq=3,vocab=5,kv_lora_rank=6,qk_nope_dim=2,qk_rope_dim=4,"
      "v_head_dim=3",
      2);
  const std::string text = print_model(graph);
  EXPECT_THAT(text, testing::HasSubstr("value_size = 3\nshared_size = 4\n"));
  EXPECT_EQ(parse_model(text, "latent.toml", 2), graph);
}

TEST(ModelFile, AWeightMayBeShared) {
  const Graph graph = build_zoo("gpt:layers=1,hidden=4,heads=2,seq=3,vocab=5", 2);
  const std::string text = print_model(graph);
  EXPECT_THAT(text, testing::HasSubstr("bias = false\nweight_of = \"embedding\"\n"));
  EXPECT_EQ(parse_model(text, "gpt.toml", 2), graph);
}

// Two attentions with one table of distances; the second embedding has the first's vectors.
TEST(ModelFile, LayersShareVectorsAndDistances) {
  GraphBuilder builder("shared", 2);
  const LayerId words = builder.add("words", Input{{{1, 1, 1, 1, 5}}}, {});
  const LayerId first = builder.add("first", Embedding{7, 8}, {words});
  const LayerId second = builder.add("second", Embedding{7, 8, 1, "first"}, {words});
  const Attention near{.head_size = 4, .buckets = 6, .max_distance = 9};
  Attention same = near;
  same.bias_of = "near";
  const LayerId seen = builder.add("near", near, {first, first, first});
  builder.add("same", same, {second, second, seen});
  const Graph graph = std::move(builder).build();
  EXPECT_EQ(graph.parameters(), 7 * 8 + 2 * 6);
  const std::string text = print_model(graph);
  EXPECT_THAT(text, testing::HasSubstr("max_distance = 9\nbias_of = \"near\"\n"));
  EXPECT_EQ(parse_model(text, "shared.toml", 2), graph);
}

TEST(ModelFile, PrintsOnlyWhatIsNotTheDefault) {
  GraphBuilder builder("small");
  LayerId at = builder.add("data", Input{{{1, 3, 1, 8, 8}}}, {});
  Windows windows;
  windows.h = windows.w = {3, 1, 1, 1, 1};
  at = builder.add("conv", Convolution{2, 4, windows}, {at});
  builder.add("twice", Add{}, {at, at});
  EXPECT_EQ(print_model(std::move(builder).build()), R"(name = "small"

[[layer]]
name = "data"
op = "input"
shape = [3, 8, 8]

[[layer]]
name = "conv"
op = "conv2d"
out_channels = 4
kernel = 3
padding = 1

[[layer]]
name = "twice"
op = "add"
inputs = ["conv", "conv"]
)");
}

/// Collects the keys of an op.
struct KeyList {
  std::vector<std::string> keys;

  template <class... Rest>
  void add(std::string_view key, Rest&&...) {
    keys.emplace_back(key);
  }
  void shape(std::string_view key, Extents&) { add(key); }
  void text(std::string_view key, std::string&) { add(key); }
  void name(std::string_view key, std::string&) { add(key); }
  void count(std::string_view key, std::int64_t&, std::optional<std::int64_t>) { add(key); }
  void flag(std::string_view key, bool&, bool) { add(key); }
  void number(std::string_view key, double&, double) { add(key); }
  void along(std::string_view key, Windows&, int, std::int64_t Window::*,
             std::optional<AlongDims>) {
    add(key);
  }
  void padding(std::string_view key, Windows&, int) { add(key); }
  void outputs(std::string_view key, AdaptivePooling&) { add(key); }
};

std::string documentation() {
  std::ifstream file(source_path("docs/models.md"));
  std::stringstream all;
  all << file.rdbuf();
  return all.str();
}

TEST(Documentation, ItsExampleIsANetwork) {
  const std::string docs = documentation(), fence = "```toml\n";
  const std::size_t begin = docs.find(fence) + fence.size();
  const std::string example = docs.substr(begin, docs.find("```", begin) - begin);
  const Graph graph = parse_model(example, "models.md", 32);
  EXPECT_EQ(graph.name(), "small-resnet");
  // 32 (27+1) + 32*32*9 + 2*32 + 10 (32*8*8 + 1)
  EXPECT_EQ(graph.parameters(), 896 + 9216 + 64 + 20490);
  EXPECT_EQ(graph.layers().back().output, (Extents{{32, 10, 1, 1, 1}}));
}

TEST(Documentation, NamesEveryOpKeyAndNetwork) {
  const std::string docs = documentation();
  for (Op op : op_prototypes()) {
    std::string written(name(op));  // max_pool2d stands there as max_poolNd
    if (written.ends_with("1d") || written.ends_with("2d") || written.ends_with("3d")) {
      written[written.size() - 2] = 'N';
    }
    EXPECT_THAT(docs, testing::HasSubstr("`" + written + "`"));
    KeyList list;
    visit_keys(op, list);
    for (const std::string& key : list.keys) {
      EXPECT_THAT(docs, testing::HasSubstr("`" + key + "`"));
    }
  }
  for (const ZooEntry& entry : zoo()) {
    EXPECT_THAT(docs, testing::HasSubstr("| `" + std::string(entry.name) + "`"));
  }
}

TEST(ModelFileErrors, OfTheWholeFile) {
  EXPECT_EQ(model_error(""), "net.toml:1: missing key 'name'");
  EXPECT_EQ(model_error("name = \"x\""), "net.toml:1: network x: it has no input layer");
  EXPECT_EQ(model_error("name = 3\nlayer = 4\nlayers = 5"),
            "net.toml:1: 'name' must be a string; it is 3\n"
            "net.toml:2: 'layer' must be a list of tables; it is 4\n"
            "net.toml:3: unknown key 'layers'; allowed: name, layer");
  EXPECT_THAT(model_error("name = \"x\"\nlayer = ["), testing::StartsWith("net.toml:2: "));
  EXPECT_EQ(error_of_layer("[[layer]]\nname = \"data\"\nop = \"relu\"\n"),
            "net.toml:6: layer data: its name is already taken");
  EXPECT_THROW(read_model("/nonexistent/net.toml", 1), InputError);
}

TEST(ModelFileErrors, OfALayersNameOpAndInputs) {
  EXPECT_EQ(error_of_layer("[[layer]]\nop = \"relu\"\n"),
            "net.toml:6: layer 2: missing key 'name'");
  EXPECT_EQ(error_of_layer("[[layer]]\nname = 1\nop = \"relu\"\n"),
            "net.toml:7: layer 2: 'name' must be a string; it is 1");
  EXPECT_EQ(error_of_layer("[[layer]]\nname = \"a\"\n"), "net.toml:6: layer a: missing key 'op'");
  EXPECT_EQ(
      error_of_layer("[[layer]]\nname = \"a\"\nop = \"conv4d\"\n"),
      "net.toml:8: layer a: unknown op 'conv4d'; allowed: input, conv1d, conv2d, conv3d, "
      "max_pool1d, max_pool2d, max_pool3d, avg_pool1d, avg_pool2d, avg_pool3d, "
      "adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d, adaptive_avg_pool1d, "
      "adaptive_avg_pool2d, adaptive_avg_pool3d, fc, linear, attention, relu, relu6, "
      "leaky_relu, elu, sigmoid, "
      "tanh, silu, gelu, hard_swish, hard_sigmoid, squared_relu, softcap, scale, swiglu, geglu, "
      "clamped_swiglu, batch_norm, layer_norm, "
      "rms_norm, lrn, dropout, "
      "concat, add, multiply, flatten, embedding, position_embedding, tokens, class_token, "
      "select_token, router, dispatch, expert_linear, combine, softmax_cross_entropy, opaque");
  const std::string add = "[[layer]]\nname = \"a\"\nop = \"add\"\n";
  EXPECT_EQ(error_of_layer(add + "inputs = [\"data\", \"dat\"]\n"),
            "net.toml:9: layer a: its input 'dat' is not a layer above it");
  EXPECT_EQ(error_of_layer(add + "inputs = \"data\"\n"),
            "net.toml:9: layer a: 'inputs' must be a list of strings; it is \"data\"");
  EXPECT_EQ(error_of_layer(add + "inputs = []\n"),
            "net.toml:6: layer a: add takes at least two inputs, not 0");
  EXPECT_EQ(model_error("name = \"x\"\n[[layer]]\nname = \"a\"\nop = \"relu\"\n"),
            "net.toml:2: layer a: missing key 'inputs', and no layer is above it");
}

TEST(ModelFileErrors, OfALayersKeys) {
  const std::string conv = "[[layer]]\nname = \"a\"\nop = \"conv2d\"\n";
  EXPECT_EQ(error_of_layer(conv),
            "net.toml:6: layer a: missing key 'out_channels'\n"
            "net.toml:6: layer a: missing key 'kernel'");
  EXPECT_EQ(error_of_layer(conv + "out_channels = 1\nkernel = 1\nstrides = 2\npads = 1\n"),
            "net.toml:11: layer a: unknown key 'strides'; allowed: name, op, inputs, "
            "out_channels, kernel, stride, padding, dilation, groups, bias\n"
            "net.toml:12: layer a: unknown key 'pads'; allowed: name, op, inputs, "
            "out_channels, kernel, stride, padding, dilation, groups, bias");
  EXPECT_EQ(error_of_layer(conv + "out_channels = 1.5\nkernel = [1, 2, 3]\npadding = [[1, 2]]\n"
                                  "groups = \"2\"\nbias = 1\n"),
            "net.toml:9: layer a: 'out_channels' must be an integer; it is 1.5\n"
            "net.toml:10: layer a: 'kernel' must be an integer or a list of 2; it is a list\n"
            "net.toml:11: layer a: 'padding' must be 2 pairs [begin, end]; it is a list\n"
            "net.toml:12: layer a: 'groups' must be an integer; it is \"2\"\n"
            "net.toml:13: layer a: 'bias' must be true or false; it is 1");
  EXPECT_EQ(error_of_layer("[[layer]]\nname = \"a\"\nop = \"dropout\"\nprobability = \"p\"\n"),
            "net.toml:9: layer a: 'probability' must be a number; it is \"p\"");
  const std::string input = "[[layer]]\nname = \"a\"\nop = \"input\"\n";
  EXPECT_EQ(error_of_layer(input + "shape = [1, 2, 3, 4, 5]\n"),
            "net.toml:9: layer a: 'shape' must be [c], [c, w], [c, h, w] or [c, d, h, w]; it is a "
            "list");
  EXPECT_EQ(error_of_layer(input + "shape = [1, \"2\"]\n"),
            "net.toml:9: layer a: 'shape[1]' must be an integer; it is \"2\"");
  EXPECT_EQ(error_of_layer(input + "shape = [0, 2]\n"),
            "net.toml:6: layer a: channel extent 0 is not in 1 ... 2147483648");
}

TEST(ModelFileErrors, OfShapesStandAtTheLayerAndDoNotEcho) {
  // The kernel's height 7 does not fit; what reads that layer is not blamed, what else is wrong is.
  EXPECT_EQ(error_of_layer("[[layer]]\nname = \"conv1\"\nop = \"conv2d\"\nout_channels = 2\n"
                           "kernel = [7, 1]\n"
                           "[[layer]]\nname = \"relu1\"\nop = \"relu\"\n"
                           "[[layer]]\nname = \"sum\"\nop = \"add\"\ninputs = [\"relu1\", "
                           "\"conv1\"]\n"
                           "[[layer]]\nname = \"drop\"\nop = \"dropout\"\ninputs = "
                           "[\"data\"]\nprobability = 1\n"),
            "net.toml:6: layer conv1: kernel 7 does not fit the padded height 5\n"
            "net.toml:18: layer drop: probability must be in [0, 1)");
}

TEST(ModelFileErrors, StopAtTen) {
  std::string many;
  for (int i = 0; i < 20; ++i) many += "[[layer]]\nname = \"a\"\n";
  const std::string message = error_of_layer(many);
  EXPECT_THAT(message, testing::EndsWith("layer a: missing key 'op'\nand 10 more"));
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 10);
}

TEST(ModelFileErrors, HugeNumbersAreRefusedNotWrappedAround) {
  const std::string huge = "9223372036854775807", a = "[[layer]]\nname = \"a\"\n";
  EXPECT_EQ(error_of_layer(a + "op = \"fc\"\nout_features = " + huge),
            "net.toml:6: layer a: out_features " + huge + " is not in 1 ... 2147483648");
  EXPECT_EQ(error_of_layer(a + "op = \"conv2d\"\nout_channels = 1\nkernel = 1\npadding = " + huge),
            "net.toml:6: layer a: height padding " + huge + " is not in 0 ... 1048576");
  EXPECT_EQ(error_of_layer(a + "op = \"lrn\"\nalpha = inf\n"),
            "net.toml:9: nan and inf are not allowed");
}

}  // namespace
}  // namespace strata
