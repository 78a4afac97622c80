#include "sim/graph/graph.h"

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/graph/zoo.h"

namespace strata {
namespace {

using testing::ElementsAre;

Windows square(std::int64_t kernel, std::int64_t stride = 1, std::int64_t pad = 0) {
  Windows windows;
  windows.h = windows.w = {kernel, stride, pad, pad, 1};
  return windows;
}

Input image(std::int64_t c, std::int64_t h, std::int64_t w) {
  return {{{1, c, 1, h, w}}};
}

/// What `op` makes of one input of these extents (n, c, d, h, w; n is the batch).
Extents output_of(const Op& op, const Extents& in) {
  GraphBuilder builder("test", in[Dim::n]);
  Extents sample = in;
  sample[Dim::n] = 1;
  const LayerId data = builder.add("data", Input{sample}, {});
  return builder.output(builder.add("layer", op, {data}));
}

template <class Action>
std::string error_of(Action&& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.message();
  }
  return "no error";
}

std::string error_of(const Op& op, const Extents& in) {
  return error_of([&] { output_of(op, in); });
}

TEST(Shape, ConvolutionFollowsTheFloorFormula) {
  // floor((224 + 2*2 - 11) / 4) + 1 = 55.
  EXPECT_EQ(output_of(Convolution{2, 64, square(11, 4, 2)}, {{8, 3, 1, 224, 224}}),
            (Extents{{8, 64, 1, 55, 55}}));
}

TEST(Shape, ConvolutionTakesAnyPaddingAndDilation) {
  Windows windows;
  windows.w = {.kernel = 3, .stride = 2, .pad_begin = 4, .pad_end = 1, .dilation = 2};
  // The window spans 5: floor((10 + 5 - 5) / 2) + 1 = 6.
  EXPECT_EQ(output_of(Convolution{1, 7, windows}, {{1, 2, 1, 1, 10}}), (Extents{{1, 7, 1, 1, 6}}));
}

TEST(Shape, CeilModeRoundsUpUnlessTheLastWindowStartsInTheEndPadding) {
  const auto pooled = [](std::int64_t extent, Window window) {
    Windows windows;
    windows.w = window;
    return output_of(Pooling{1, PoolMode::max, windows, true}, {{1, 1, 1, 1, extent}})[Dim::w];
  };
  EXPECT_EQ(pooled(112, {3, 2, 0, 0, 1}), 56);  // ceil(109/2) + 1; the floor is 55
  EXPECT_EQ(pooled(5, {2, 2, 0, 0, 1}), 3);     // the third window holds element 4 alone
  // ceil((5 + 2 - 2) / 2) + 1 = 4, but window 3 would start at padded 6 >= 5 + 1: only 3.
  EXPECT_EQ(pooled(5, {2, 2, 1, 1, 1}), 3);
}

TEST(Shape, TheOtherOps) {
  const Extents in = {{4, 6, 2, 5, 3}};
  EXPECT_EQ(output_of(AdaptivePooling{2, PoolMode::average, 1, 7, 1}, in),
            (Extents{{4, 6, 2, 7, 1}}));
  EXPECT_EQ(output_of(AdaptivePooling{3}, in), (Extents{{4, 6, 1, 1, 1}}));
  EXPECT_EQ(output_of(FullyConnected{10}, in), (Extents{{4, 10, 1, 1, 1}}));
  EXPECT_EQ(output_of(Flatten{}, in), (Extents{{4, 180, 1, 1, 1}}));
  for (const Op& op : {Op(Activation{}), Op(BatchNorm{}), Op(LocalResponseNorm{}), Op(Dropout{})}) {
    EXPECT_EQ(output_of(op, in), in) << name(op);
  }
  EXPECT_EQ(output_of(SoftmaxCrossEntropy{}, {{4, 6, 1, 1, 1}}), (Extents{{4, 6, 1, 1, 1}}));
}

TEST(Shape, AnOpaqueOpSaysItsOwn) {
  const Opaque resize{"Resize", {{1, 6, 1, 10, 6}}, 3};
  EXPECT_EQ(output_of(resize, {{4, 6, 1, 5, 3}}), (Extents{{4, 6, 1, 10, 6}}));
  const Extents in = {{1, 2, 1, 1, 1}};
  EXPECT_EQ(error_of(Opaque{"", in}, in),
            "layer layer: an opaque op needs a kind, without control characters");
  EXPECT_EQ(error_of(Opaque{"a\n", in}, in),
            "layer layer: an opaque op needs a kind, without control characters");
  EXPECT_EQ(error_of(Opaque{"Loop", {{2, 1, 1, 1, 1}}}, in),
            "layer layer: an opaque op's output is of one sample: n must be 1");
  EXPECT_EQ(error_of(Opaque{"Loop", {{1, 0, 1, 1, 1}}}, in),
            "layer layer: channel extent 0 is not in 1 ... 2147483648");
  EXPECT_EQ(error_of(Opaque{"Loop", in, -1}, in),
            "layer layer: parameters -1 is not in 0 ... 281474976710656");
}

TEST(Shape, ErrorsNameTheLayerAndWhatDoesNotFit) {
  const Extents small = {{1, 6, 1, 3, 5}};
  EXPECT_EQ(error_of(Convolution{2, 4, square(7, 1, 1)}, small),
            "layer layer: kernel 7 does not fit the padded height 5");
  Windows dilated = square(3);
  dilated.h.dilation = 2;
  EXPECT_EQ(error_of(Convolution{2, 4, dilated}, small),
            "layer layer: kernel 3 with dilation 2 spans 5 and does not fit the padded height 3");
  EXPECT_EQ(error_of(Convolution{2, 4, square(1), 4}, small),
            "layer layer: 4 groups do not divide the 6 input channels");
  EXPECT_EQ(error_of(Convolution{2, 4, square(1), 3}, small),
            "layer layer: 3 groups do not divide the 4 output channels");
  EXPECT_EQ(error_of(Convolution{1, 4, square(3)}, small),
            "layer layer: a window of rank 1 can't slide over the height");
  EXPECT_EQ(error_of(Convolution{2, 0, square(1)}, small),
            "layer layer: out_channels 0 is not in 1 ... 2147483648");
  EXPECT_EQ(error_of(Convolution{2, 4, square(1, 0)}, small),
            "layer layer: height stride 0 is not in 1 ... 1048576");
  EXPECT_EQ(error_of(Convolution{4, 4, square(1)}, small), "layer layer: rank 4 is not in 1 ... 3");
  EXPECT_EQ(error_of(Pooling{2, PoolMode::max, square(3, 2, 2)}, small),
            "layer layer: height padding 2 is more than half of the pooling kernel 3");
  EXPECT_EQ(error_of(SoftmaxCrossEntropy{}, small),
            "layer layer: softmax_cross_entropy takes (n, c) or (n, c, w); its input 6 x 1 x 3 x 5 "
            "needs a "
            "flatten or an fc before it");
  EXPECT_EQ(error_of(Dropout{1.0}, small), "layer layer: probability must be in [0, 1)");
  EXPECT_EQ(error_of(Add{}, small), "layer layer: add takes at least two inputs, not 1");
}

TEST(Shape, JoinsWantEqualExtents) {
  GraphBuilder builder("test", 2);
  const LayerId a = builder.add("a", image(3, 4, 4), {});
  const LayerId b = builder.add("b", image(5, 4, 4), {});
  const LayerId c = builder.add("c", image(3, 4, 5), {});
  EXPECT_EQ(builder.output(builder.add("ab", Concat{}, {a, b})), (Extents{{2, 8, 1, 4, 4}}));
  EXPECT_EQ(builder.output(builder.add("aa", Add{}, {a, a})), (Extents{{2, 3, 1, 4, 4}}));
  EXPECT_EQ(error_of([&] {
              builder.add("ac", Concat{}, {a, c});
            }),
            "layer ac: concat joins channels; its inputs 3 x 1 x 4 x 4 and 3 x 1 x 4 x 5 differ "
            "elsewhere");
  EXPECT_EQ(error_of([&] {
              builder.add("a+b", Add{}, {a, b});
            }),
            "layer a+b: add takes equal extents, not 3 x 1 x 4 x 4 and 5 x 1 x 4 x 4");
}

// Of 16 tokens with 2 of 4 experts each has 8, where all have equally many.
TEST(Shape, SlotsAreForWhatTokensTake) {
  const auto slots = [](std::int64_t experts, const Dispatch& op) {
    GraphBuilder builder("experts", 3);
    const LayerId x = builder.add("x", Input{{{1, 5, 1, 1, 16}}}, {});
    const LayerId gates = builder.add("gates", Router{experts, op.top_k}, {x});
    return builder.output(builder.add("slots", op, {x, gates}));
  };
  EXPECT_EQ(slots(4, {2}), (Extents{{3, 5, 4, 1, 8}}));
  EXPECT_EQ(slots(4, {2, 1, 1.5})[Dim::w], 12);
  EXPECT_EQ(slots(4, {2, 1, 3})[Dim::w], 16);  // no expert has a token twice
  EXPECT_EQ(slots(4, {2, 4})[Dim::w], 8);      // 2 of each 4 tokens
  EXPECT_EQ(slots(3, {2})[Dim::w], 11);        // 10 2/3
  EXPECT_EQ(slots(12, {1, 8})[Dim::w], 8);     // one of each 2 tokens, at least
}

TEST(Graph, ATokenComputesWithSomeOfTheExperts) {
  const Graph graph = build_zoo(
      "llama:layers=2,hidden=4,heads=2,ffn=6,seq=8,vocab=5,experts=8,topk=3,moe_layers=1", 1);
  const std::int64_t of_experts = 8 * 3 * 4 * 6;
  EXPECT_EQ(graph.active_parameters(), graph.parameters() - of_experts * 5 / 8);
  EXPECT_EQ(build_zoo("lenet5", 1).active_parameters(), 61'706);
}

TEST(Shape, AGateHasOneValueForEachChannelOrPosition) {
  GraphBuilder builder("test", 2);
  const LayerId a = builder.add("a", image(3, 4, 5), {});
  const LayerId gate = builder.add("gate", image(3, 1, 1), {});
  const LayerId map = builder.add("map", image(1, 4, 5), {});
  const Extents whole = {{2, 3, 1, 4, 5}};
  EXPECT_EQ(builder.output(builder.add("aa", Multiply{}, {a, a})), whole);
  EXPECT_EQ(builder.output(builder.add("ag", Multiply{}, {a, gate})), whole);
  EXPECT_EQ(builder.output(builder.add("am", Multiply{}, {a, map})), whole);
  const auto error = [&](std::vector<LayerId> inputs) {
    return error_of([&] { builder.add("y", Multiply{}, std::move(inputs)); });
  };
  EXPECT_EQ(error({a}), "layer y: multiply takes two inputs, not 1");
  EXPECT_EQ(error({map, a}),
            "layer y: multiply takes a second input of 1 x 1 x 4 x 5 or, as a gate, 1 x 1 x 1 x 1, "
            "not 3 x 1 x 4 x 5");
  EXPECT_EQ(error({a, builder.add("b", image(2, 4, 5), {})}),
            "layer y: multiply takes a second input of 3 x 1 x 4 x 5 or, as a gate, 3 x 1 x 1 x 1 "
            "or 1 x 1 x 4 x 5, not 2 x 1 x 4 x 5");
}

TEST(GraphBuilder, RefusesWhatIsNoNetwork) {
  EXPECT_EQ(error_of([] { GraphBuilder("test", 0); }), "batch 0 is not in 1 ... 2147483648");
  EXPECT_EQ(error_of([] { GraphBuilder("test").build(); }), "network test: it has no input layer");
  GraphBuilder builder("test");
  const LayerId data = builder.add("data", image(3, 1, 1), {});
  EXPECT_EQ(error_of([&] { builder.add("data", Dropout{}, {data}); }),
            "layer data: its name is already taken");
  EXPECT_EQ(error_of([&] { builder.add("", Dropout{}, {data}); }), "layer : a layer needs a name");
  EXPECT_EQ(error_of([&] { builder.add("x", Dropout{}, {LayerId(7)}); }),
            "layer x: an input is not a layer that was added before");
  EXPECT_EQ(error_of([&] { builder.add("x", Dropout{}, {}); }), "layer x: takes one input, not 0");
  EXPECT_EQ(error_of([&] { builder.add("x", image(1, 1, 1), {data}); }),
            "layer x: an input layer reads no other layer");
  const LayerId loss = builder.add("loss", SoftmaxCrossEntropy{}, {data});
  EXPECT_EQ(error_of([&] { builder.add("x", Dropout{}, {loss}); }),
            "layer x: reads loss, but a loss is the end of a network");
  // What was refused left no trace.
  EXPECT_EQ(std::move(builder).build().size(), 2u);
}

TEST(GraphBuilder, BoundsTheNetworkSoThatNoCountOverflows) {
  const std::int64_t most = std::int64_t{1} << 31;
  EXPECT_EQ(error_of([&] { GraphBuilder("test", most).add("data", image(most, most, most), {}); }),
            "layer data: the network makes, reads and holds more than 281474976710656 activations "
            "and parameters");
  GraphBuilder builder("test");
  const LayerId data = builder.add("data", image(most, 1, 1), {});
  EXPECT_EQ(error_of([&] { builder.add("fc", FullyConnected{most}, {data}); }),
            "layer fc: the network makes, reads and holds more than 281474976710656 activations "
            "and parameters");
  EXPECT_EQ(error_of([&] {
              builder.add("c", Concat{}, {data, data});
            }),
            "layer c: channel extent 4294967296 is not in 1 ... 2147483648");
}

// Two layers that read a map of 2^46 elements and make as many: with three maps and two reads there
// are five, more than 2^48 elements, and each device may need all of them, and get them twice.
TEST(GraphBuilder, CountsAnActivationOnceMoreForEachLayerThatReadsIt) {
  GraphBuilder builder("test");
  const LayerId map =
      builder.add("map", image(1, std::int64_t{1} << 23, std::int64_t{1} << 23), {});
  builder.add("a", Activation{}, {map});
  EXPECT_EQ(error_of([&] { builder.add("b", Activation{}, {map}); }),
            "layer b: the network makes, reads and holds more than 281474976710656 activations "
            "and parameters");
}

// A sample of 2^20 numbers that are made and read once, and as many that a layer makes of them:
// 3 x 2^20 n <= 2^48.
TEST(Graph, KnowsItsLargestBatch) {
  GraphBuilder builder("test", 3);
  builder.add("relu", Activation{}, {builder.add("data", image(1024, 32, 32), {})});
  EXPECT_EQ(std::move(builder).build().largest_batch(), (1 << 28) / 3);

  for (const char* name : {"lenet5", "vgg16", "resnet50", "gpt2", "llama3-405b"}) {
    const Graph one = build_zoo(name, 1);
    const std::int64_t most = one.largest_batch();
    EXPECT_EQ(one.with_batch(most).largest_batch(), most) << name;
    EXPECT_EQ(error_of([&] { one.with_batch(most + 1); }),
              fmt::format("network {}: a batch of {} is too large; allowed: up to {}", one.name(),
                          most + 1, most));
    EXPECT_NE(error_of([&] { build_zoo(name, most + 1); }), "") << name;
  }
}

TEST(GraphBuilder, ForgetsWhatAnOpIgnores) {
  const auto with = [](const Op& op) {
    GraphBuilder builder("test");
    builder.add("layer", op, {builder.add("data", image(3, 9, 9), {})});
    return std::move(builder).build();
  };
  EXPECT_EQ(with(Activation{ActivationKind::relu, 0.3}), with(Activation{}));
  EXPECT_NE(with(Activation{ActivationKind::elu, 0.3}), with(Activation{ActivationKind::elu}));
  EXPECT_EQ(with(Pooling{2, PoolMode::max, square(3), false, false}),
            with(Pooling{2, PoolMode::max, square(3)}));
  EXPECT_NE(with(Pooling{2, PoolMode::average, square(3), false, false}),
            with(Pooling{2, PoolMode::average, square(3)}));
  EXPECT_EQ(with(AdaptivePooling{1, PoolMode::max, 4, 4, 3}),
            with(AdaptivePooling{1, PoolMode::max, 1, 1, 3}));
}

/// data -> conv -> relu -> add <- conv; the first convolution's input needs no gradient.
Graph small_residual() {
  GraphBuilder builder("small", 4);
  const LayerId data = builder.add("data", image(3, 8, 8), {});
  const LayerId drop = builder.add("drop", Dropout{}, {data});
  const LayerId conv = builder.add("conv", Convolution{2, 16, square(3, 1, 1), 1, true}, {drop});
  const LayerId relu = builder.add("relu", Activation{}, {conv});
  builder.add("sum", Add{}, {relu, conv, relu});
  return std::move(builder).build();
}

TEST(Graph, KnowsItsLayersByNameAndByReader) {
  const Graph graph = small_residual();
  EXPECT_EQ(graph.find("relu"), LayerId(3));
  EXPECT_FALSE(graph.find("rel").valid());
  EXPECT_THAT(graph.consumers(LayerId(2)), ElementsAre(LayerId(3), LayerId(4)));
  EXPECT_THAT(graph.consumers(LayerId(3)), ElementsAre(LayerId(4), LayerId(4)));
  EXPECT_THAT(graph.consumers(LayerId(4)), ElementsAre());
  EXPECT_THAT(requires_gradient(graph), ElementsAre(false, false, true, true, true));
}

TEST(Graph, CountsParametersAndMultiplyAccumulates) {
  const Graph graph = small_residual();
  EXPECT_EQ(graph[LayerId(2)].parameters, (Parameters{std::int64_t{16} * 3 * 3 * 3, 16}));
  EXPECT_EQ(graph.parameters(), 432 + 16);
  EXPECT_EQ(macs(graph, LayerId(2)), 4 * 16 * 8 * 8 * 27);  // the padding's taps count
  EXPECT_EQ(macs(graph, LayerId(3)), 0);
  Box half = whole(graph[LayerId(2)].output);
  half[Dim::c] = {4, 12};
  EXPECT_EQ(macs(graph, LayerId(2), half), 4 * 8 * 8 * 8 * 27);
}

TEST(Graph, ChangesItsBatchAlone) {
  const Graph graph = small_residual(), other = graph.with_batch(9);
  EXPECT_EQ(other.batch(), 9);
  EXPECT_EQ(other[LayerId(4)].output, (Extents{{9, 16, 1, 8, 8}}));
  EXPECT_NE(other, graph);
  EXPECT_EQ(other.with_batch(4), graph);
  EXPECT_EQ(error_of([&] { graph.with_batch(0); }), "batch 0 is not in 1 ... 2147483648");
}

}  // namespace
}  // namespace strata
