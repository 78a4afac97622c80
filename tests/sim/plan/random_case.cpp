#include "random_case.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <numeric>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "sim/cluster/cluster_file.h"
#include "sim/graph/regions.h"
#include "sim/graph/zoo.h"
#include "sim/strategy/shared_weight.h"

namespace strata::testing {
namespace {

Window random_window(Random& random, std::int64_t extent) {
  Window window;
  window.kernel = pick(random, 1, std::min<std::int64_t>(3, extent));
  window.stride = pick(random, 1, 2);
  window.pad_begin = pick(random, 0, window.kernel - 1);
  window.pad_end = pick(random, 0, window.kernel - 1);
  if (window.kernel * 2 - 1 <= extent) window.dilation = pick(random, 1, 2);
  return window;
}

Windows random_windows(Random& random, const Extents& input, bool pooling) {
  Windows windows;
  for (Dim dim : kSpatialDims) {
    if (input[dim] == 1) continue;
    windows[dim] = random_window(random, input[dim]);
    if (!pooling) continue;
    windows[dim].dilation = 1;
    windows[dim].pad_begin = windows[dim].pad_end =
        std::min(windows[dim].pad_begin, windows[dim].kernel / 2);
  }
  return windows;
}

int rank_of(const Extents& input) {
  if (input[Dim::d] > 1) return 3;
  return input[Dim::h] == 1 && input[Dim::w] > 1 ? 1 : 2;
}

Op random_convolution(Random& random, const Extents& input) {
  Convolution conv;
  conv.rank = rank_of(input);
  conv.groups = input[Dim::c] % 2 == 0 ? pick(random, 1, 2) : 1;
  conv.out_channels = conv.groups * pick(random, 1, 3);
  conv.windows = random_windows(random, input, false);
  return conv;
}

Op random_op(Random& random, const Extents& input, bool flat) {
  if (flat) {
    switch (pick(random, 0, 2)) {
      case 0:
        return FullyConnected{pick(random, 1, 5)};
      case 1:
        return Activation{};
      default:
        return Dropout{};
    }
  }
  switch (pick(random, 0, 8)) {
    case 0:
    case 1:
      return random_convolution(random, input);
    case 2: {
      Pooling pool;
      pool.rank = rank_of(input);
      pool.windows = random_windows(random, input, true);
      return pool;
    }
    case 3:
      return Activation{};
    case 4:
      if (pick(random, 0, 1) == 0) return LayerNorm{1e-3};
      return BatchNorm{};
    case 5:
      return LocalResponseNorm{3};
    case 6: {
      AdaptivePooling pool;
      pool.rank = rank_of(input);
      pool.d = pick(random, 1, input[Dim::d]);
      pool.h = pick(random, 1, input[Dim::h]);
      pool.w = pick(random, 1, input[Dim::w]);
      return pool;
    }
    case 7:
      return Flatten{};
    default:
      return FullyConnected{pick(random, 1, 5)};
  }
}

bool is_flat(const Extents& e) {
  return e[Dim::d] * e[Dim::h] * e[Dim::w] == 1;
}

// A squeeze-and-excitation: the newest layer times what is made of its means.
LayerId add_gated(GraphBuilder& builder, LayerId newest) {
  const std::string number = std::to_string(builder.size());
  const Extents shape = builder.output(newest);
  LayerId gate = builder.add("mean" + number, AdaptivePooling{3, PoolMode::average}, {newest});
  const Convolution narrow{2, shape[Dim::c], {}, 1, true};
  gate = builder.add("gate" + number, narrow, {gate});
  gate = builder.add("open" + number, Activation{ActivationKind::hard_sigmoid}, {gate});
  return builder.add("gated" + number, Multiply{}, {newest, gate});
}

// Joins the newest layer with an earlier one where their shapes allow it.
LayerId maybe_join(Random& random, GraphBuilder& builder, LayerId newest, std::size_t count) {
  if (pick(random, 0, 2) != 0) return newest;
  switch (pick(random, 0, 9)) {
    case 0:
      return builder.add("twice" + std::to_string(count), Add{}, {newest, newest});
    case 1:
      return builder.add("square" + std::to_string(count), Multiply{}, {newest, newest});
    case 2:
    case 3:
      return add_gated(builder, newest);
  }
  for (std::size_t i = 1; i + 1 < count; ++i) {
    const Extents a = builder.output(LayerId(i)), b = builder.output(newest);
    const std::string name = "join" + std::to_string(count);
    if (a == b) return builder.add(name, Add{}, {LayerId(i), newest});
    Extents same_channels = a;
    same_channels[Dim::c] = b[Dim::c];
    if (same_channels == b) return builder.add(name, Concat{}, {LayerId(i), newest});
  }
  return newest;
}

// A window that leaves every extent as it is.
Windows same_windows(const Extents& input) {
  Windows windows;
  for (Dim dim : kSpatialDims) {
    if (input[dim] > 1) windows[dim] = {.kernel = 3, .stride = 1, .pad_begin = 1, .pad_end = 1};
  }
  return windows;
}

// Its output has its input's extents, so that two branches can meet again.
Op random_op_of_same_shape(Random& random, const Extents& input) {
  const std::int64_t channels = input[Dim::c];
  switch (pick(random, 0, is_flat(input) ? 3 : 5)) {
    case 0:
      return Activation{};
    case 1:
      return Dropout{};
    case 2:
      if (pick(random, 0, 1) == 0) return LayerNorm{1e-3};
      return BatchNorm{};
    case 3:
      if (is_flat(input)) return FullyConnected{channels};
      return Convolution{rank_of(input), channels, same_windows(input)};
    case 4:
      return Pooling{rank_of(input), PoolMode::max, same_windows(input)};
    default:
      return LocalResponseNorm{3};
  }
}

bool may_join(const Op& op, const Extents& first, Extents other) {
  Extents gate = first;
  for (Dim dim : kSpatialDims) gate[dim] = 1;
  if (std::holds_alternative<Multiply>(op) && other == gate) return true;
  if (std::holds_alternative<Concat>(op)) other[Dim::c] = first[Dim::c];
  return other == first;
}

// Two layers of any age that the op can join, the first being `first`; itself, where there is no
// other.
std::vector<LayerId> random_pair(Random& random, const GraphBuilder& builder, LayerId first,
                                 const Op& op) {
  std::vector<LayerId> fitting;
  for (std::size_t i = 0; i < builder.size(); ++i) {
    const bool fits = may_join(op, builder.output(first), builder.output(LayerId(i)));
    if (LayerId(i) != first && fits) fitting.push_back(LayerId(i));
  }
  if (fitting.empty()) return {first, first};
  return {first, fitting[random() % fitting.size()]};
}

// Reads the newest layer, or any: several may read the same, or none.
LayerId add_random_layer(Random& random, GraphBuilder& builder) {
  const std::size_t count = builder.size();
  const LayerId read(random() % 2 == 0 ? count - 1 : random() % count);
  const Extents shape = builder.output(read);
  const std::string name = "layer" + std::to_string(count);
  if (pick(random, 0, 2) == 0 && count > 2) {
    const std::vector<Op> joins = {Concat{}, Add{}, Multiply{}};
    const Op& op = joins[random() % joins.size()];
    return builder.add(name, op, random_pair(random, builder, read, op));
  }
  const bool same = random() % 2 == 0;
  return builder.add(
      name,
      same ? random_op_of_same_shape(random, shape) : random_op(random, shape, is_flat(shape)),
      {read});
}

}  // namespace

std::int64_t pick(Random& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
}

Graph random_graph(Random& random) {
  const std::int64_t batch = pick(random, 1, 5);
  GraphBuilder builder("random", batch);
  const std::int64_t depth = pick(random, 0, 3) == 0 ? pick(random, 2, 3) : 1;
  const Extents image = {{1, pick(random, 1, 3), depth, pick(random, 3, 7), pick(random, 3, 7)}};
  LayerId last = builder.add("data", Input{image}, {});
  last = builder.add("first", random_convolution(random, image), {last});
  const std::int64_t layers = pick(random, 1, 7);
  for (std::int64_t i = 0; i < layers; ++i) {
    const Extents shape = builder.output(last);
    last =
        builder.add("layer" + std::to_string(i), random_op(random, shape, is_flat(shape)), {last});
    last = maybe_join(random, builder, last, builder.size());
  }
  if (!is_flat(builder.output(last))) last = builder.add("flat", Flatten{}, {last});
  builder.add("loss", SoftmaxCrossEntropy{}, {last});
  return std::move(builder).build();
}

Graph random_network(Random& random, std::int64_t layers) {
  GraphBuilder builder("random", pick(random, 1, 6));
  const std::int64_t rank = pick(random, 1, 3), largest = random() % 2 == 0 ? 6 : 40;
  Extents image = {{1, pick(random, 1, largest), 1, 1, pick(random, 2, largest)}};
  if (rank > 1) image[Dim::h] = pick(random, 2, largest);
  if (rank > 2) image[Dim::d] = pick(random, 2, 6);
  const LayerId data = builder.add("data", Input{image}, {});
  Convolution first{rank_of(image), pick(random, 1, largest), same_windows(image)};
  LayerId last = builder.add("first", first, {data});
  for (std::int64_t i = 1; i < layers; ++i) {
    const bool flat = is_flat(builder.output(last));
    if (i + 1 == layers && flat && random() % 2 == 0) {
      builder.add("loss", SoftmaxCrossEntropy{}, {last});
    } else if (i + 2 == layers && !flat && random() % 2 == 0) {
      last = builder.add("flat", Flatten{}, {last});
    } else {
      last = add_random_layer(random, builder);
    }
  }
  return std::move(builder).build();
}

namespace {

// Some layers that can be are cut in r, too.
void cut_reduction(Random& random, const Layer& layer, std::int64_t left, Degrees& degrees) {
  const std::int64_t most = std::min(left, most_parts_of_sums(layer));
  if (most < 2 || is_input(layer.op) || pick(random, 0, layer.reduction > 1 ? 1 : 3) == 0) return;
  degrees.r = static_cast<std::int32_t>(pick(random, 2, most));
  std::vector<Dim> room;
  const PerDim<bool> may = may_scatter(layer, degrees);
  for (Dim dim : kDims) {
    if (may[dim]) room.push_back(dim);
  }
  if (room.empty()) degrees.r = 1;
  if (!room.empty()) degrees.scatter = room[random() % room.size()];
}

}  // namespace

namespace {

// What is around a weight that layers share: an element-wise layer behind, another product of the
// same tensor before or after, a second layer that shares it.
Graph random_sharing_network(Random& random) {
  GraphBuilder builder("sharing", pick(random, 1, 4));
  const std::int64_t features = 2 * pick(random, 1, 3), vocabulary = pick(random, 2, 9);
  LayerId at = builder.add("numbers", Input{{{1, 1, 1, 1, pick(random, 1, 5)}}}, {});
  at = builder.add("embedding", Embedding{vocabulary, features}, {at});
  at = builder.add("norm", RmsNorm{}, {at});
  const auto product = [&](const char* name) {
    return builder.add(name, Linear{vocabulary, pick(random, 0, 1) == 0}, {at});
  };
  const auto shared = [&](const char* name) {
    return builder.add(name, Linear{vocabulary, false, "embedding"}, {at});
  };
  std::vector<LayerId> logits;
  if (pick(random, 0, 2) == 0) logits.push_back(product("before"));
  logits.push_back(shared("head"));
  if (pick(random, 0, 2) == 0) {
    logits.back() = builder.add("cap", Activation{ActivationKind::tanh}, {logits.back()});
  }
  if (pick(random, 0, 2) == 0) logits.push_back(product("after"));
  if (pick(random, 0, 3) == 0) logits.push_back(shared("head2"));
  if (logits.size() > 1) logits = {builder.add("sum", Add{}, logits)};
  builder.add("loss", SoftmaxCrossEntropy{}, logits);
  return std::move(builder).build();
}

}  // namespace

// What decoders differ in, beside sizes.
constexpr std::array<std::string_view, 7> kDecoderParts = {
    "",
    ",qk_norm=head,bias=qkv,tied=1",
    ",norms=both,window=2,softcap=2,scale_embedding=1",
    ",parallel=shared,act=relu2,head_bias=1",
    ",experts=4,moe_ffn=3,capacity=1.5",
    ",experts=3,topk=1,shared_ffn=3,moe_layers=1,norm_topk=0,act=gelu",
    ",sinks=1,bias=attention,act=clamped_swiglu,experts=3,moe_ffn=3,expert_bias=1,router_bias=1"};

Graph random_transformer(Random& random) {
  const auto one_of = [&](std::initializer_list<std::int64_t> values) {
    return values.begin()[random() % values.size()];
  };
  // Of two channels a layer norm makes 1 and -1, and a gradient of rounding.
  const std::int64_t heads = one_of({1, 2, 4}),
                     hidden = std::max<std::int64_t>(4, heads * one_of({2, 4, 6}));
  // Norms of few channels, of which a dropout leaves none, make much of rounding.
  const bool drops = pick(random, 0, 2) == 0 && hidden >= 8;
  // Compilers may evaluate arguments of a function in any order.
  const std::int64_t layers = pick(random, 1, 2), ffn = pick(random, 2, 9),
                     seq = pick(random, 1, 7), vocab = pick(random, 2, 9);
  const std::string sizes = fmt::format("layers={},hidden={},heads={},ffn={}{}", layers, hidden,
                                        heads, ffn, drops ? ",dropout=0.2" : "");
  const std::string tokens = fmt::format("{},seq={},vocab={}", sizes, seq, vocab);
  const std::int64_t batch = pick(random, 1, 4);
  if (pick(random, 0, 4) == 0) return random_sharing_network(random);
  switch (pick(random, 0, 4)) {
    case 0:
      return build_zoo("gpt:" + tokens, batch);
    case 1: {
      const std::int64_t kv_heads = heads == 4 ? one_of({1, 2, 4}) : heads;
      std::string_view parts = kDecoderParts[random() % kDecoderParts.size()];
      // A norm of a head's two channels makes much of rounding, too.
      if (hidden / heads < 4 && parts.starts_with(",qk_norm")) parts = {};
      return build_zoo(fmt::format("llama:{},kv_heads={}{}", tokens, kv_heads, parts), batch);
    }
    case 2:
      return build_zoo("bert:" + tokens, batch);
    case 3:  // of one token no distance would matter
      return build_zoo(fmt::format("t5:{},seq={},target_seq={},vocab={},buckets=4,max_distance=3",
                                   sizes, seq + 1, pick(random, 2, 6), vocab),
                       batch);
    default:
      return build_zoo(fmt::format("vit:{},image={},patch=2,classes=5", sizes, one_of({2, 5, 6})),
                       batch);
  }
}

namespace {

// On the devices of the weight's owner or, with a copy of it, on others: those of another copy, or
// free ones where there are enough.
Config config_with_owner(Random& random, const Graph& graph, LayerId id, std::size_t devices,
                         const std::vector<Config>& configs) {
  const LayerId owner = graph[id].weight_of;
  Config config = config_with_weight(graph[id], graph[owner], configs[owner()]).value();
  if (random() % 2 == 0 || graph.needs_gradient(id) != graph.needs_gradient(owner)) return config;
  std::vector<bool> taken(devices);
  for (std::size_t i = owner(); i < configs.size(); ++i) {
    const bool shares = i == owner() || graph[LayerId(i)].weight_of == owner;
    if (!shares) continue;
    for (DeviceId device : configs[i].devices) taken[device()] = true;
    if (i > owner() && configs[i].degrees == config.degrees && random() % 2 == 0) return configs[i];
  }
  std::vector<DeviceId> free;
  for (std::size_t d = 0; d < devices; ++d) {
    if (!taken[d]) free.emplace_back(d);
  }
  if (free.size() < config.devices.size()) return config;
  std::shuffle(free.begin(), free.end(), random);
  free.resize(config.devices.size());
  config.devices = std::move(free);
  return config;
}

// With others, where that fits; nothing where the layer is free.
std::optional<Config> config_with_others(Random& random, const Graph& graph, LayerId id,
                                         std::size_t devices, const std::vector<Config>& configs) {
  const Layer& layer = graph[id];
  if (layer.weight_of.valid()) return config_with_owner(random, graph, id, devices, configs);
  const LayerId first = first_reader(graph, id);
  if (!first.valid() || random() % 2 == 0) return std::nullopt;
  const Config& config = configs[first()];
  for (Dim dim : kDims) {
    if (!may_cut(layer, dim, config.degrees[dim])) return std::nullopt;
  }
  const bool scatters =
      config.degrees.r == 1 || may_scatter(layer, config.degrees)[config.degrees.scatter];
  return scatters ? std::optional(config) : std::nullopt;
}

}  // namespace

Strategy random_strategy(Random& random, const Graph& graph, std::size_t devices, bool reductions) {
  std::vector<Config> configs;
  while (configs.size() < graph.size()) {
    const LayerId id(configs.size());
    const Layer& layer = graph[id];
    if (const auto config = config_with_others(random, graph, id, devices, configs)) {
      configs.push_back(*config);
      continue;
    }
    Config config;
    auto left = static_cast<std::int64_t>(devices);
    for (Dim dim : kDims) {
      const std::int64_t degree = pick(random, 1, std::min(left, layer.output[dim]));
      config.degrees[dim] = clipped(layer, dim, degree);
      left /= degree;
    }
    if (reductions) cut_reduction(random, layer, left, config.degrees);
    std::vector<DeviceId> all;
    for (std::size_t i = 0; i < devices; ++i) all.push_back(DeviceId(i));
    std::shuffle(all.begin(), all.end(), random);
    all.resize(static_cast<std::size_t>(product(config.degrees)));
    config.devices = std::move(all);
    if (suits_sharing_layers(graph, id, config)) configs.push_back(std::move(config));
  }
  return {"random", std::move(configs)};
}

Cluster star(std::size_t devices) {
  std::string toml = "name = \"star\"\n[[switch]]\nname = \"hub\"\n";
  for (std::size_t i = 0; i < devices; ++i) {
    const std::string device = "d" + std::to_string(i);
    toml += "[[device]]\nname = \"" + device + "\"\nkind = \"p100\"\nhost = \"h\"\n";
    toml += "[[link]]\nfrom = \"" + device +
            "\"\nto = \"hub\"\nbandwidth = \"10 GB/s\"\nlatency = \"0 s\"\nduplex = true\n";
  }
  return parse_cluster(toml, "star.toml");
}

}  // namespace strata::testing
