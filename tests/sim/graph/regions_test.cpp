// needed_input against a referee that asks each output element, straight from the op's definition,
// which input elements it reads.

#include "sim/graph/regions.h"

#include <array>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

using Element = std::array<std::int64_t, 5>;  // n, c, d, h, w
using Elements = std::set<Element>;
constexpr std::size_t kC = 1;

Elements elements_of(const Box& box) {
  Elements all;
  Element at;
  const auto& b = box.values;
  for (at[0] = b[0].begin; at[0] < b[0].end; ++at[0])
    for (at[1] = b[1].begin; at[1] < b[1].end; ++at[1])
      for (at[2] = b[2].begin; at[2] < b[2].end; ++at[2])
        for (at[3] = b[3].begin; at[3] < b[3].end; ++at[3])
          for (at[4] = b[4].begin; at[4] < b[4].end; ++at[4]) all.insert(at);
  return all;
}

/// The referee: the elements that output element `o` of `layer` reads of input number `index`.
struct Reads {
  const Graph& graph;
  const Layer& layer;
  std::size_t index;
  Extents in;
  Element o;
  Elements& all;

  void keep(const Element& e) const {
    for (std::size_t k = 0; k < 5; ++k) {
      if (e[k] < 0 || e[k] >= in.values[k]) return;  // padding
    }
    all.insert(e);
  }

  void taps(const Windows& windows, std::int64_t channel) const {
    Element e = o;
    e[kC] = channel;
    const auto at = [&](Dim dim, std::int64_t j) {
      const Window& window = windows[dim];
      return o[static_cast<std::size_t>(dim)] * window.stride - window.pad_begin +
             j * window.dilation;
    };
    for (std::int64_t i = 0; i < windows.d.kernel; ++i)
      for (std::int64_t j = 0; j < windows.h.kernel; ++j)
        for (std::int64_t k = 0; k < windows.w.kernel; ++k) {
          e[2] = at(Dim::d, i), e[3] = at(Dim::h, j), e[4] = at(Dim::w, k);
          keep(e);
        }
  }

  void operator()(const Input&) const {}
  void operator()(const Convolution& op) const {
    const std::int64_t group = o[kC] / (op.out_channels / op.groups);
    const std::int64_t per_group = in[Dim::c] / op.groups;
    for (std::int64_t c = 0; c < per_group; ++c) taps(op.windows, group * per_group + c);
  }
  void operator()(const Pooling& op) const { taps(op.windows, o[kC]); }
  void operator()(const AdaptivePooling&) const {
    for (const Element& e : elements_of(whole(in))) {
      bool inside = e[0] == o[0] && e[1] == o[1];
      for (std::size_t k = 2; k < 5; ++k) {
        // Cell o of O averages [floor(o S / O), ceil((o+1) S / O)): x with x+1 > o S/O and
        // x < (o+1) S/O.
        const std::int64_t s = in.values[k], out = layer.output.values[k];
        inside = inside && (e[k] + 1) * out > o[k] * s && e[k] * out < (o[k] + 1) * s;
      }
      if (inside) keep(e);
    }
  }
  void operator()(const FullyConnected&) const {
    for (const Element& e : elements_of(whole(in))) {
      if (e[0] == o[0]) keep(e);
    }
  }
  void operator()(const Linear&) const {
    for (std::int64_t c = 0; c < in[Dim::c]; ++c) {
      Element e = o;
      e[kC] = c;
      keep(e);
    }
  }
  void operator()(const Attention& op) const {
    const std::int64_t own = op.head_size - op.shared_size;
    const std::int64_t of_values = op.value_size > 0 ? op.value_size : op.head_size;
    const std::int64_t sizes[] = {op.head_size, own, of_values, op.shared_size};
    const std::int64_t heads = layer.output[Dim::c] / of_values, size = sizes[index];
    const std::int64_t head = o[kC] / of_values;
    const std::int64_t read = index == 3 ? 0 : head / (heads / (in[Dim::c] / size));
    for (const Element& e : elements_of(whole(in))) {
      const std::int64_t before = o[4] - e[4];
      const bool sees = !op.causal || (before >= 0 && (op.window == 0 || before < op.window));
      const bool position = index == 0 ? e[4] == o[4] : sees;
      if (e[0] == o[0] && e[kC] / size == read && position) keep(e);
    }
  }
  void operator()(const Embedding&) const { keep({o[0], 0, o[2], o[3], o[4]}); }
  void operator()(const PositionEmbedding&) const { keep(o); }
  void operator()(const Tokens&) const {
    for (const Element& e : elements_of(whole(in))) {
      if (e[0] == o[0] && e[kC] == o[kC]) keep(e);  // the whole plane, for any of its positions
    }
  }
  void operator()(const ClassToken&) const { keep({o[0], o[1], o[2], o[3], o[4] - 1}); }
  void operator()(const SelectToken& op) const { keep({o[0], o[1], o[2], o[3], op.position}); }
  void operator()(const Router&) const { (*this)(Linear{}); }
  void operator()(const ExpertLinear&) const { (*this)(Linear{}); }
  void operator()(const Dispatch& op) const { group(op.groups); }
  void operator()(const Combine& op) const { group(op.groups); }
  // Of tokens or slots the channel, and all gates.
  void group(std::int64_t groups) const {
    const std::int64_t own = o[4] / (layer.output[Dim::w] / groups);
    for (const Element& e : elements_of(whole(in))) {
      const bool same = e[0] == o[0] && e[4] / (in[Dim::w] / groups) == own;
      if (same && (index > 0 || e[kC] == o[kC])) keep(e);
    }
  }
  void operator()(const GatedActivation&) const { keep(o); }
  void operator()(const RmsNorm&) const { keep(o); }
  void operator()(const Opaque&) const {
    for (const Element& e : elements_of(whole(in))) {
      if (e[0] == o[0]) keep(e);
    }
  }
  void operator()(const LocalResponseNorm& op) const {
    for (std::int64_t k = 0; k < op.size; ++k) {
      Element e = o;
      e[kC] += k - (op.size - 1) / 2;
      keep(e);
    }
  }
  void operator()(const Concat&) const {
    Element e = o;
    for (std::size_t k = 0; k < index; ++k) e[kC] -= graph[layer.inputs[k]].output[Dim::c];
    keep(e);
  }
  void operator()(const Flatten&) const {
    for (const Element& e : elements_of(whole(in))) {
      std::int64_t position = 0;
      for (std::size_t k = 1; k < 5; ++k) position = position * in.values[k] + e[k];
      if (e[0] == o[0] && position == o[kC]) keep(e);
    }
  }
  // The same element; what norms and softmax read beyond it travels as statistics.
  void operator()(const Activation&) const { keep(o); }
  void operator()(const BatchNorm&) const { keep(o); }
  void operator()(const LayerNorm&) const { keep(o); }
  void operator()(const Dropout&) const { keep(o); }
  void operator()(const Add&) const { keep(o); }
  void operator()(const Multiply&) const {
    // Broadcast, the element stands at 0 of each dim that a gate has none of.
    Element e = o;
    for (std::size_t k = 1; k < 5; ++k) e[k] = in.values[k] == 1 ? 0 : o[k];
    keep(e);
  }
  void operator()(const SoftmaxCrossEntropy&) const { keep(o); }
};

Elements read_by(const Graph& graph, LayerId id, std::size_t input, const Box& output) {
  const Layer& layer = graph[id];
  Elements all;
  for (const Element& o : elements_of(output)) {
    std::visit(Reads{graph, layer, input, graph[layer.inputs[input]].output, o, all}, layer.op);
  }
  return all;
}

Elements hull_of(const Elements& elements) {
  if (elements.empty()) return {};
  Box hull;
  for (std::size_t k = 0; k < 5; ++k) {
    Interval& range = hull.values[k] = {(*elements.begin())[k], (*elements.begin())[k] + 1};
    for (const Element& e : elements) {
      range = {std::min(range.begin, e[k]), std::max(range.end, e[k] + 1)};
    }
  }
  return elements_of(hull);
}

const Windows* windows_of(const Op& op) {
  if (const auto* conv = std::get_if<Convolution>(&op)) return &conv->windows;
  if (const auto* pool = std::get_if<Pooling>(&op)) return &pool->windows;
  return nullptr;
}

/// A stride or a dilation may skip elements of the box that is needed.
bool may_skip(const Op& op) {
  const Windows* windows = windows_of(op);
  if (windows == nullptr) return false;
  for (Dim dim : kSpatialDims) {
    const Window& window = (*windows)[dim];
    if (window.stride > window.kernel || window.dilation > 1) return true;
  }
  return false;
}

void expect_as_referee(const Graph& graph, LayerId id, const Box& output) {
  const Layer& layer = graph[id];
  for (std::size_t input = 0; input < layer.inputs.size(); ++input) {
    Elements said;
    std::size_t volumes = 0;
    const std::vector<Box> boxes = needed_input(graph, id, input, output);
    for (const Box& box : boxes) {
      EXPECT_FALSE(empty(box));
      said.merge(elements_of(box));
      volumes += static_cast<std::size_t>(volume(box));
    }
    EXPECT_EQ(volumes, said.size()) << "overlapping boxes";
    EXPECT_LE(boxes.size(), std::holds_alternative<Flatten>(layer.op) ? 7u : 1u);
    const Elements read = read_by(graph, id, input, output);
    ASSERT_EQ(said, may_skip(layer.op) ? hull_of(read) : read) << name(layer.op);
  }
}

/// Random small networks of one layer, and random boxes of its output.
class RandomLayers {
 public:
  explicit RandomLayers(std::uint32_t seed) : random_(seed) {}

  std::int64_t in(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_() % static_cast<std::uint32_t>(high - low + 1));
  }

  Window window(std::int64_t extent, bool pooling) {
    for (;;) {
      Window w = {in(1, 4), in(1, 4), in(0, 5), in(0, 5), in(1, 3)};
      const std::int64_t span = w.dilation * (w.kernel - 1) + 1;
      const bool pads_fit = w.pad_begin <= span / 2 && w.pad_end <= span / 2;
      if (span <= extent + w.pad_begin + w.pad_end && (!pooling || pads_fit)) return w;
    }
  }

  Windows windows(const Extents& extents, int rank, bool pooling) {
    Windows all;
    for (Dim dim : {Dim::w, Dim::h, Dim::d}) {
      if (rank-- > 0) all[dim] = window(extents[dim], pooling);
    }
    return all;
  }

  Extents extents() { return {{in(1, 2), in(1, 6), in(1, 3), in(1, 5), in(1, 8)}}; }

  Box box(const Extents& e) {
    Box box;
    for (Dim dim : kDims) {
      const std::int64_t begin = in(0, e[dim] - 1);
      box[dim] = {begin, in(begin + 1, e[dim])};
    }
    return box;
  }

  /// The layer "layer", last in its network, over `inputs` inputs that differ in channels.
  void expect_ok(const Op& op, const Extents& first, std::size_t inputs = 1) {
    GraphBuilder builder("random", first[Dim::n]);
    std::vector<LayerId> ids;
    for (std::size_t k = 0; k < inputs; ++k) {
      Extents e = first;
      e[Dim::n] = 1;
      if (std::holds_alternative<Concat>(op)) e[Dim::c] = in(1, 4);
      const bool gates = std::holds_alternative<Multiply>(op) && k == 1 && in(0, 1) == 1;
      if (gates)
        e = in(0, 1) == 1 ? Extents{{1, e[Dim::c], 1, 1, 1}}
                          : Extents{{1, 1, e[Dim::d], e[Dim::h], e[Dim::w]}};
      ids.push_back(builder.add("data" + std::to_string(k), Input{e}, {}));
    }
    const LayerId id = builder.add("layer", op, ids);
    const Graph graph = std::move(builder).build();
    expect_as_referee(graph, id, whole(graph[id].output));
    expect_as_referee(graph, id, box(graph[id].output));
  }

 private:
  std::mt19937 random_;
};

constexpr std::uint32_t kSeed = 20180710;
constexpr int kRounds = 150;

TEST(NeededInput, ConvolutionAsItsReferee) {
  RandomLayers random(kSeed);
  for (int round = 0; round < kRounds; ++round) {
    const Extents e = random.extents();
    std::int64_t groups = random.in(1, e[Dim::c]);
    while (e[Dim::c] % groups != 0) --groups;
    const int rank = static_cast<int>(random.in(1, 3));
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", round " << round);
    const auto windows = random.windows(e, rank, false);
    random.expect_ok(Convolution{rank, groups * random.in(1, 3), windows, groups, true}, e);
    if (HasFatalFailure()) return;
  }
}

TEST(NeededInput, PoolingAsItsReferee) {
  RandomLayers random(kSeed);
  for (int round = 0; round < kRounds; ++round) {
    const Extents e = random.extents();
    const int rank = static_cast<int>(random.in(1, 3));
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", round " << round);
    const auto windows = random.windows(e, rank, true);
    random.expect_ok(Pooling{rank, PoolMode::max, windows, random.in(0, 1) == 1, true}, e);
    const std::int64_t d = random.in(1, 5), h = random.in(1, 9), w = random.in(1, 9);
    random.expect_ok(AdaptivePooling{rank, PoolMode::average, d, h, w}, e);
    if (HasFatalFailure()) return;
  }
}

TEST(NeededInput, TheOtherOpsAsTheirReferee) {
  RandomLayers random(kSeed);
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", round " << round);
    const Extents e = random.extents();
    random.expect_ok(Flatten{}, e);
    random.expect_ok(FullyConnected{random.in(1, 5)}, e);
    random.expect_ok(Opaque{"Any", {{1, random.in(1, 3), 1, random.in(1, 3), 1}}}, e);
    random.expect_ok(LocalResponseNorm{random.in(1, 6)}, e);
    random.expect_ok(Concat{}, e, static_cast<std::size_t>(random.in(1, 4)));
    random.expect_ok(Add{}, e, 2);
    random.expect_ok(Multiply{}, e, 2);
    for (const Op& op : {Op(Activation{}), Op(BatchNorm{}), Op(Dropout{})}) {
      random.expect_ok(op, e);
    }
    random.expect_ok(SoftmaxCrossEntropy{},
                     {{random.in(1, 4), random.in(1, 9), 1, 1, random.in(1, 4)}});
    random.expect_ok(Linear{random.in(1, 5)}, e);
    random.expect_ok(Tokens{}, e);
    random.expect_ok(GatedActivation{}, e, 2);
    random.expect_ok(RmsNorm{}, e);
    const Extents sequence = {{e[Dim::n], e[Dim::c], 1, 1, e[Dim::w]}};
    random.expect_ok(Embedding{7, random.in(1, 4)}, {{e[Dim::n], 1, 1, 1, e[Dim::w]}});
    random.expect_ok(PositionEmbedding{}, sequence);
    random.expect_ok(ClassToken{}, sequence);
    random.expect_ok(SelectToken{random.in(0, e[Dim::w] - 1)}, sequence);
    if (HasFatalFailure()) return;
  }
}

// Boxes of whole heads.
TEST(NeededInput, AttentionAsItsReferee) {
  RandomLayers random(kSeed);
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", round " << round);
    Attention op{.head_size = random.in(1, 3), .causal = random.in(0, 1) == 1};
    if (op.causal && random.in(0, 1) == 1) op.window = random.in(1, 5);
    if (random.in(0, 1) == 1) op.value_size = random.in(1, 3);
    if (op.head_size > 1 && random.in(0, 1) == 1) op.shared_size = random.in(1, op.head_size - 1);
    const std::int64_t kv_heads = random.in(1, 3), heads = kv_heads * random.in(1, 3);
    const std::int64_t batch = random.in(1, 2), tokens = random.in(1, 8);
    const std::int64_t of_values = op.value_size > 0 ? op.value_size : op.head_size;
    GraphBuilder builder("random", batch);
    const auto input = [&](const char* name, std::int64_t channels) {
      return builder.add(name, Input{{{1, channels, 1, 1, tokens}}}, {});
    };
    std::vector<LayerId> inputs = {input("q", heads * op.head_size),
                                   input("k", kv_heads * (op.head_size - op.shared_size)),
                                   input("v", kv_heads * of_values)};
    if (op.shared_size > 0) inputs.push_back(input("shared", op.shared_size));
    const LayerId id = builder.add("layer", op, inputs);
    const Graph graph = std::move(builder).build();
    EXPECT_EQ(graph[id].output, (Extents{{batch, heads * of_values, 1, 1, tokens}}));
    Box box = random.box({{batch, heads, 1, 1, tokens}});
    box[Dim::c] = {box[Dim::c].begin * of_values, box[Dim::c].end * of_values};
    expect_as_referee(graph, id, box);
    if (HasFatalFailure()) return;
  }
}

TEST(NeededInput, ExpertsAsTheirReferee) {
  RandomLayers random(kSeed);
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", round " << round);
    const std::int64_t batch = random.in(1, 2), channels = random.in(1, 4);
    const std::int64_t groups = random.in(1, 3), tokens = groups * random.in(1, 4);
    const std::int64_t experts = random.in(1, 4);
    const double capacity = 0.25 * static_cast<double>(random.in(1, 8));
    GraphBuilder builder("random", batch);
    const LayerId x = builder.add("x", Input{{{1, channels, 1, 1, tokens}}}, {});
    const LayerId gates = builder.add("gates", Router{experts, 1}, {x});
    const LayerId slots = builder.add("slots", Dispatch{1, groups, capacity}, {x, gates});
    const LayerId made = builder.add("made", ExpertLinear{random.in(1, 3)}, {slots});
    const LayerId all = builder.add("all", Combine{groups}, {made, gates});
    const Graph graph = std::move(builder).build();
    for (const LayerId layer : {gates, slots, made, all}) {
      expect_as_referee(graph, layer, random.box(graph[layer].output));
    }
    if (HasFatalFailure()) return;
  }
}

TEST(NeededInput, AHaloReachesIntoTheNeighboursRows) {
  // A 3x3 convolution with padding 1 over 8 rows, cut in two: rows 4..7 need rows 3..7.
  Windows windows;
  windows.h = windows.w = {3, 1, 1, 1, 1};
  GraphBuilder builder("halo", 2);
  const LayerId data = builder.add("data", Input{{{1, 3, 1, 8, 8}}}, {});
  const LayerId conv = builder.add("conv", Convolution{2, 4, windows}, {data});
  const Graph graph = std::move(builder).build();
  Box lower = whole(graph[conv].output);
  lower[Dim::h] = {4, 8};
  Box needed = whole(graph[data].output);
  needed[Dim::h] = {3, 8};
  EXPECT_THAT(needed_input(graph, conv, 0, lower), testing::ElementsAre(needed));
}

TEST(NeededInput, FlattenTakesSevenBoxesAtMost) {
  // 3 x 3 x 3 x 3 flattened; the run [14, 67) leaves a ragged head and tail in every dim:
  // 14 = (0,1,1,2) and 66 = (2,1,1,0). One element, one row, one plane; then channel 1; and back.
  GraphBuilder builder("flat");
  const LayerId data = builder.add("data", Input{{{1, 3, 3, 3, 3}}}, {});
  const LayerId flat = builder.add("flat", Flatten{}, {data});
  const Graph graph = std::move(builder).build();
  Box run = whole(graph[flat].output);
  run[Dim::c] = {14, 67};
  const auto box = [](Interval c, Interval d, Interval h, Interval w) {
    return Box{{Interval{0, 1}, c, d, h, w}};
  };
  EXPECT_THAT(needed_input(graph, flat, 0, run),
              testing::UnorderedElementsAre(
                  box({0, 1}, {1, 2}, {1, 2}, {2, 3}), box({0, 1}, {1, 2}, {2, 3}, {0, 3}),
                  box({0, 1}, {2, 3}, {0, 3}, {0, 3}), box({1, 2}, {0, 3}, {0, 3}, {0, 3}),
                  box({2, 3}, {0, 1}, {0, 3}, {0, 3}), box({2, 3}, {1, 2}, {0, 1}, {0, 3}),
                  box({2, 3}, {1, 2}, {1, 2}, {0, 1})));
}

TEST(NeededInput, NothingWhereAWindowLiesInThePadding) {
  Windows windows;
  windows.w = {1, 1, 3, 0, 1};
  GraphBuilder builder("padded");
  const LayerId data = builder.add("data", Input{{{1, 1, 1, 1, 4}}}, {});
  const LayerId conv = builder.add("conv", Convolution{1, 1, windows}, {data});
  const Graph graph = std::move(builder).build();
  Box padding = whole(graph[conv].output);
  padding[Dim::w] = {0, 3};
  EXPECT_THAT(needed_input(graph, conv, 0, padding), testing::IsEmpty());
}

}  // namespace
}  // namespace strata
