#include "sim/strategy/strategy_file.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/graph/regions.h"
#include "sim/strategy/config_text.h"
#include "sim/strategy/shared_weight.h"
#include "sim/text/file.h"
#include "sim/text/json.h"

namespace strata {
namespace {

constexpr std::string_view kReduction = "r", kScatter = "scatter", kRecompute = "recompute";

// A few of the names that would do.
template <class Named>
std::string some_names(const Named& named) {
  constexpr std::size_t kMost = 8;
  std::string names;
  for (std::size_t i = 0; i < std::min(kMost, named.size()); ++i) {
    names += (i > 0 ? ", " : "") + named[i].name;
  }
  return named.size() > kMost ? names + ", ..." : names;
}

class StrategyReader {
 public:
  StrategyReader(const Document& document, const Graph& graph, const Cluster& cluster)
      : document_(document),
        graph_(graph),
        cluster_(cluster),
        configs_(graph.size()),
        labels_(graph.size()) {}

  Strategy run() {
    Table root = document_.table();
    std::string name;
    errors_.attempt([&] { name = root.string_or("strategy", document_.file()); });
    check_model(root);  // another network's layers would all be wrong
    root.has("cluster");
    if (const auto value = root.optional("default")) {
      errors_.attempt([&] { default_ = read_degrees("default", *value, nullptr); });
    }
    std::vector<Table> layers;
    errors_.attempt([&] { layers = read_layers(root); });
    for (Table& layer : layers) errors_.attempt([&] { read_layer(layer); });
    root.finish(errors_);
    if (errors_.empty()) complete();
    errors_.throw_if_any();
    return Strategy(std::move(name), take_configs()).with(take_segments());
  }

 private:
  std::vector<Table> read_layers(Table& root) const {
    if (!default_) root.required("layers");
    return root.tables("layers");
  }

  void check_model(Table& root) const {
    const auto model = root.optional("model");
    if (!model || model->as_string() == graph_.name()) return;
    model->fail(fmt::format("the strategy is for model {}; allowed: {}", model->as_string(),
                            graph_.name()));
  }

  void read_layer(Table& table) {
    const Value name_value = table.required("name");
    const std::string& name = name_value.as_string();
    const LayerId id = graph_.find(name);
    if (!id.valid()) {
      name_value.fail(fmt::format("layer {}: network {} has no such layer; allowed: {}", name,
                                  graph_.name(), some_names(graph_.layers())));
    }
    if (configs_[id()]) name_value.fail(fmt::format("layer {}: given twice", name));
    const auto config = table.optional("config");
    if (!config) {
      name_value.fail(
          fmt::format("layer {}: missing key 'config'; allowed: {{\"n\": 2}} and the like", name));
    }
    configs_[id()] = config_on_first_devices(kWhole);
    const Degrees degrees = read_degrees("layer " + name, *config, &graph_[id]);
    configs_[id()] = read_devices(name, table, *config, degrees);
    if (const auto label = table.optional(kRecompute)) read_label(id, *label);
    table.finish(errors_);
  }

  void read_label(LayerId id, const Value& label) {
    const std::string& layer = graph_[id].name;
    if (!label.is(ValueKind::string) || label.as_string().empty()) {
      errors_.add(
          label.location(),
          fmt::format("layer {}: recompute must be the label of a segment, a string; allowed: "
                      "\"block 1\" and the like",
                      layer));
    } else if (is_input(graph_[id].op)) {
      errors_.add(
          label.location(),
          fmt::format("layer {}: recompute is for layers that compute; allowed: none for the "
                      "network's inputs",
                      layer));
    } else {
      labels_[id()] = label;
    }
  }

  // Numbered as the labels come in the graph's order. A segment is computed again as a whole, so
  // none begins while another has yet to end.
  Segments take_segments() {
    Segments segments(graph_.size());
    std::map<std::string, std::uint32_t> numbers;
    std::uint32_t current = 0;
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      if (!labels_[i]) continue;
      const std::string& label = labels_[i]->as_string();
      const auto [at, fresh] =
          numbers.try_emplace(label, static_cast<std::uint32_t>(numbers.size() + 1));
      segments[i] = at->second;
      if (!fresh && at->second != current) {
        errors_.add(labels_[i]->location(),
                    fmt::format("layer {}: recompute '{}': layers of another label come between "
                                "those of this one; allowed: a label of its own",
                                graph_[LayerId(i)].name, label));
      }
      current = at->second;
    }
    errors_.throw_if_any();
    return numbers.empty() ? Segments{} : segments;
  }

  // `layer` gives the extents that bound the degrees; the default has none.
  Degrees read_degrees(const std::string& who, const Value& value, const Layer* layer) {
    Table table = value.as_table();
    Degrees degrees = kWhole;
    const auto read = [&](std::string_view loop, std::int64_t most, std::string_view why) {
      const auto degree = table.optional(loop);
      if (!degree) return 1;
      const auto dim = find_dim(loop);
      if (!degree->is(ValueKind::integer) || degree->node().integer < 1 ||
          degree->node().integer > most ||
          (layer && dim && !may_cut(*layer, *dim, degree->node().integer))) {
        errors_.add(degree->location(),
                    layer ? fmt::format("{}: the degree in {} must be an integer from 1 to {}, {}",
                                        who, loop, most, why)
                          : fmt::format("{}: the degree in {} must be an integer of at least 1",
                                        who, loop));
        return 1;
      }
      return static_cast<std::int32_t>(degree->node().integer);
    };
    constexpr std::int64_t kAny = std::numeric_limits<std::int32_t>::max();
    for (Dim dim : kDims) {
      degrees[dim] = layer ? read(name(dim), most_parts(*layer)[dim], why_no_more(*layer, dim))
                           : read(name(dim), kAny, "");
    }
    degrees.r = layer ? read(kReduction, most_parts_of_sums(*layer), why_no_more_terms(*layer))
                      : read(kReduction, kAny, "");
    if (const auto scatter = table.optional(kScatter)) read_scatter(who, *scatter, layer, degrees);
    for (const auto& [key, degree] : table.members()) {
      if (find_dim(key) || key == kReduction || key == kScatter) continue;
      errors_.add(degree.location(),
                  fmt::format("{}: unknown dim '{}'; allowed: n, c, d, h, w, r", who, key));
    }
    return degrees;
  }

  void read_scatter(const std::string& who, const Value& value, const Layer* layer,
                    Degrees& degrees) {
    const auto dim = value.is(ValueKind::string) ? find_dim(value.as_string()) : std::nullopt;
    if (!dim) {
      errors_.add(value.location(), fmt::format("{}: scatter must be one of n, c, d, h, w", who));
    } else if (layer == nullptr || degrees.r == 1) {
      errors_.add(value.location(),
                  fmt::format("{}: scatter is for a layer that is cut in r", who));
    } else if (!may_scatter(*layer, degrees)[*dim]) {
      errors_.add(value.location(),
                  fmt::format("{}: its output can't be scattered along {} by degree {} and {} "
                              "shards of each sum; allowed: up to {}, {}",
                              who, name(*dim), degrees[*dim], degrees.r, most_parts(*layer)[*dim],
                              why_no_more(*layer, *dim)));
    } else {
      degrees.scatter = *dim;
      scattered_.insert(graph_.find(layer->name));
    }
  }

  Config read_devices(const std::string& name, Table& table, const Value& config,
                      const Degrees& degrees) {
    const std::int64_t shards = bounded_product(degrees);
    const auto available = static_cast<std::int64_t>(cluster_.device_count());
    if (shards > available) {
      config.fail(fmt::format("layer {}: {} shards; cluster {} has {} devices", name, shards,
                              cluster_.name(), available));
    }
    const auto listed = table.optional("devices");
    if (!listed) return config_on_first_devices(degrees);
    std::vector<DeviceId> devices;
    std::set<DeviceId> seen;
    for (const Value& item : listed->as_list()) {
      if (!item.is(ValueKind::string)) {
        item.fail(fmt::format("layer {}: a device must be given by its name, a string", name));
      }
      const DeviceId device = cluster_.find_device(item.as_string());
      if (!device.valid()) {
        item.fail(fmt::format("layer {}: cluster {} has no device {}; allowed: {}", name,
                              cluster_.name(), item.as_string(), some_names(cluster_.devices())));
      }
      if (!seen.insert(device).second) {
        item.fail(fmt::format("layer {}: device {} listed twice; allowed: each once", name,
                              item.as_string()));
      }
      devices.push_back(device);
    }
    if (std::ssize(devices) != shards) {
      listed->fail(fmt::format("layer {}: {} devices for {} shards; allowed: one device a shard",
                               name, devices.size(), shards));
    }
    return {degrees, std::move(devices)};
  }

  // Saturates: five degrees of 2^31 would overflow.
  static std::int64_t bounded_product(const Degrees& degrees) {
    std::int64_t shards = degrees.r;
    for (Dim dim : kDims) shards = std::min<std::int64_t>(shards * degrees[dim], 1LL << 31);
    return shards;
  }

  void complete() {
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      if (configs_[i]) continue;
      const Layer& layer = graph_[LayerId(i)];
      if (layer.weight_of.valid()) {
        with_weight_.emplace_back(i);
        configs_[i] = config_on_first_devices(kWhole);
      } else if (default_) {
        configs_[i] = clipped_default(layer);
      } else if (is_input(layer.op)) {
        configs_[i] = config_on_first_devices(kWhole);
      } else {
        errors_.add(document_.root().location(),
                    fmt::format("layer {}: no config; allowed: one for every layer, or a 'default'",
                                layer.name));
      }
    }
  }

  // Where no file says it, readers decide.
  void scatter_sums(std::vector<Config>& configs) {
    for (std::size_t i = 0; i < configs.size(); ++i) {
      Degrees& degrees = configs[i].degrees;
      if (degrees.r == 1 || scattered_.contains(LayerId(i))) continue;
      const auto dim = best_scatter(graph_, LayerId(i), degrees, configs);
      if (!dim) {
        errors_.add(document_.root().location(),
                    fmt::format("layer {}: {}: no dim of its output has room for {} shards of each "
                                "sum",
                                graph_[LayerId(i)].name, config_text(degrees), degrees.r));
      }
      degrees.scatter = dim.value_or(Dim::n);
    }
  }

  Config clipped_default(const Layer& layer) {
    Degrees degrees = *default_;
    for (Dim dim : kDims) degrees[dim] = clipped(layer, dim, degrees[dim]);
    degrees.r = static_cast<std::int32_t>(std::min<std::int64_t>(degrees.r, layer.reduction));
    const PerDim<bool> may = may_scatter(layer, degrees);
    if (std::find(may.values.begin(), may.values.end(), true) == may.values.end()) degrees.r = 1;
    const auto available = static_cast<std::int64_t>(cluster_.device_count());
    if (bounded_product(degrees) > available) {
      errors_.add(document_.root().location(),
                  fmt::format("layer {}: the default makes {} shards; cluster {} has {} devices",
                              layer.name, bounded_product(degrees), cluster_.name(), available));
      return {};
    }
    return config_on_first_devices(degrees);
  }

  std::vector<Config> take_configs() {
    std::vector<Config> configs;
    for (auto& config : configs_) configs.push_back(std::move(*config));
    scatter_sums(configs);
    errors_.throw_if_any();
    for (LayerId layer : with_weight_) {
      const LayerId owner = graph_[layer].weight_of;
      const auto config = config_with_weight(graph_[layer], graph_[owner], configs[owner()]);
      if (config) configs[layer()] = *config;
    }
    for (std::size_t i = 0; i < configs.size(); ++i) {
      const std::string wrong = wrong_with_weight(graph_, LayerId(i), configs);
      if (!wrong.empty()) errors_.add(document_.root().location(), wrong);
    }
    errors_.throw_if_any();
    return configs;
  }

  const Document& document_;
  const Graph& graph_;
  const Cluster& cluster_;
  Diagnostics errors_;
  std::optional<Degrees> default_;
  std::vector<std::optional<Config>> configs_;
  std::vector<std::optional<Value>> labels_;  ///< by layer: of the segments that are computed again
  std::vector<LayerId> with_weight_;          ///< not listed: cut as their weights' owners
  std::set<LayerId> scattered_;               ///< the file says along which dim
};

}  // namespace

Strategy parse_strategy(std::string_view json, const std::string& file, const Graph& graph,
                        const Cluster& cluster) {
  const Document document = parse_json(json, file);
  return StrategyReader(document, graph, cluster).run();
}

Strategy read_strategy(const std::string& file, const Graph& graph, const Cluster& cluster) {
  return parse_strategy(read_file(file), file, graph, cluster);
}

StrategyNames read_strategy_names(const std::string& file) {
  const Document document = parse_json(read_file(file), file);
  Table root = document.table();
  return {root.string_or("model", ""), root.string_or("cluster", "")};
}

nlohmann::ordered_json degrees_json(const Degrees& degrees) {
  nlohmann::ordered_json json;
  for (Dim dim : kDims) json[name(dim)] = degrees[dim];
  if (degrees.r == 1) return json;
  json[kReduction] = degrees.r;
  json[kScatter] = name(degrees.scatter);
  return json;
}

nlohmann::ordered_json layer_json(const Strategy& strategy, LayerId id, const Graph& graph,
                                  const Cluster& cluster) {
  const Config& config = strategy[id];
  nlohmann::ordered_json layer{{"name", graph[id].name}, {"config", degrees_json(config.degrees)}};
  if (config != config_on_first_devices(config.degrees)) {
    for (DeviceId device : config.devices) layer["devices"].push_back(cluster[device].name);
  }
  const std::uint32_t segment = strategy.segment(id);
  if (segment > 0) layer[kRecompute] = fmt::format("{}", segment);
  return layer;
}

std::string print_strategy(const Strategy& strategy, const Graph& graph, const Cluster& cluster) {
  nlohmann::ordered_json document{
      {"strategy", strategy.name()}, {"model", graph.name()}, {"cluster", cluster.name()}};
  document["layers"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < graph.size(); ++i) {
    document["layers"].push_back(layer_json(strategy, LayerId(i), graph, cluster));
  }
  return document.dump(1) + "\n";
}

}  // namespace strata
