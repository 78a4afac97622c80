#include "sim/strategy/search_space.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <variant>

#include "sim/graph/regions.h"
#include "sim/strategy/shared_weight.h"

namespace strata {
namespace {

using Degree = std::int32_t;

// Of the degrees from 1 to the device count, those of the set, in order.
std::vector<Degree> degrees_of(DegreeSet set, Degree devices) {
  std::vector<Degree> degrees;
  if (set == DegreeSet::pow2) {
    for (std::int64_t k = 1; k <= devices; k *= 2) degrees.push_back(static_cast<Degree>(k));
    return degrees;
  }
  for (Degree k = 1; k <= devices; ++k) {
    if (set == DegreeSet::all || devices % k == 0) degrees.push_back(k);
  }
  return degrees;
}

// The device before which the cluster's first domain of fast links ends.
std::int64_t first_domain_size(const Cluster& cluster) {
  const auto devices = cluster.devices();
  const auto ends = [&](const Device& device) {
    return device.fast_domain() != devices.front().fast_domain();
  };
  return std::find_if(devices.begin(), devices.end(), ends) - devices.begin();
}

// Strides that number the shards with `outermost` slowest, then the other dims in order.
PerDim<Degree> strides_with(Dim outermost, const Degrees& cut) {
  const Degrees degrees = output_degrees(cut);
  PerDim<Degree> strides = kWhole;
  Degree next = 1;
  const auto place = [&](Dim dim) {
    if (degrees[dim] == 1) return;
    strides[dim] = next;
    next *= degrees[dim];
  };
  for (std::size_t k = kDims.size(); k-- > 0;) {
    if (kDims[k] != outermost) place(kDims[k]);
  }
  place(outermost);
  return strides;
}

// All cuts of tensors, by how many parts they may have; each list is made once.
class CutLists {
 public:
  CutLists(const Cluster& cluster, const SearchOptions& options)
      : devices_(static_cast<Degree>(cluster.device_count())),
        degrees_(
            degrees_of(options.degrees.value_or(usual_degrees(cluster.device_count())), devices_)),
        first_domain_(options.host_placement ? first_domain_size(cluster) : devices_),
        reductions_(options.reductions) {}

  // For all of `layers` alike.
  const std::shared_ptr<const Cuts>& operator()(const Graph& graph,
                                                std::span<const LayerId> layers) {
    const Limits most = limits(graph, layers);
    auto& list = lists_[most];
    if (list == nullptr) {
      Cuts cuts;
      Degrees degrees = kWhole;
      add_cuts(most, 0, devices_, degrees, cuts);
      list = std::make_shared<const Cuts>(std::move(cuts));
    }
    return list;
  }

  bool cuts_sums(const Layer& layer) const { return terms(layer) > 1; }

 private:
  // Of the degrees in each dim, and in r; and what they divide, or 0.
  struct Limits {
    Extents most;
    Extents units;
    std::int64_t terms = 0;
    auto operator<=>(const Limits&) const = default;
    bool allow(Dim dim, std::int64_t degree) const {
      return degree <= most[dim] && (units[dim] == 0 || units[dim] % degree == 0);
    }
  };

  Limits limits(const Graph& graph, std::span<const LayerId> layers) const {
    const Layer& first = graph[layers.front()];
    Limits limits{most_parts(first), first.units, terms(first)};
    for (LayerId layer : layers.subspan(1)) {
      const Extents most = most_parts(graph[layer]);
      for (Dim dim : kDims) limits.most[dim] = std::min(limits.most[dim], most[dim]);
      limits.terms = std::min(limits.terms, terms(graph[layer]));
    }
    return limits;
  }

  std::int64_t terms(const Layer& layer) const {
    const bool fully_connected = std::holds_alternative<FullyConnected>(layer.op) ||
                                 std::holds_alternative<Linear>(layer.op) ||
                                 std::holds_alternative<Embedding>(layer.op);
    const bool may = reductions_ == ReductionCuts::all ||
                     (reductions_ == ReductionCuts::fully_connected && fully_connected);
    return may ? layer.reduction : 1;
  }

  // Chooses the degrees of dims `k` and on, whose product may be `left`; lexicographically.
  void add_cuts(const Limits& most, std::size_t k, Degree left, Degrees& degrees,
                Cuts& cuts) const {
    if (k == kDims.size()) return add_reductions(most, left, degrees, cuts);
    for (const Degree degree : degrees_) {
      if (degree > std::min<std::int64_t>(left, most.most.values[k])) break;
      if (!most.allow(kDims[k], degree)) continue;
      degrees.values[k] = degree;
      add_cuts(most, k + 1, left / degree, degrees, cuts);
    }
    degrees.values[k] = 1;
  }

  // And of r, with each dim along which the sums may be scattered.
  void add_reductions(const Limits& most, Degree left, Degrees degrees, Cuts& cuts) const {
    for (const Degree r : degrees_) {
      if (r > std::min<std::int64_t>(left, most.terms)) break;
      degrees.r = r;
      for (Dim dim : kDims) {
        if (r == 1 ? dim != Dim::n : std::int64_t{degrees[dim]} * r > most.most[dim]) continue;
        degrees.scatter = dim;
        add_numberings(degrees, cuts);
      }
    }
  }

  void add_numberings(const Degrees& degrees, Cuts& cuts) const {
    cuts.push_back(row_major_cut(degrees));
    if (cuts.back().shards() <= first_domain_) return;
    bool outermost = true;  // of the row-major cut: the first dim that is cut
    for (Dim dim : kDims) {
      if (output_degrees(degrees)[dim] == 1) continue;
      if (!outermost) cuts.push_back({degrees, strides_with(dim, degrees)});
      outermost = false;
    }
  }

  Degree devices_;
  std::vector<Degree> degrees_;
  std::int64_t first_domain_;
  ReductionCuts reductions_;
  std::map<Limits, std::shared_ptr<const Cuts>> lists_;
};

// An element-wise layer costs the least where its producer left the data (the paper's Section 6
// counts it as part of the producer). Batch norm's sums follow the cut too.
bool is_cut_as_producer(const Graph& graph, const Layer& layer) {
  if (!follows_producer(layer.op) || layer.inputs.size() != 1) return false;
  const Layer& producer = graph[layer.inputs.front()];
  return !is_input(producer.op) && producer.output == layer.output;
}

}  // namespace

DegreeSet usual_degrees(std::size_t devices) {
  return (devices & (devices - 1)) == 0 ? DegreeSet::pow2 : DegreeSet::divisors;
}

Cut row_major_cut(const Degrees& degrees) {
  return {degrees, strides_with(Dim::n, degrees)};
}

Cut output_cut(const Cut& cut) {
  return {output_degrees(cut.degrees), cut.strides};
}

Config config_of(const Cut& cut) {
  const Degrees owners = output_degrees(cut.degrees);
  const auto shards = static_cast<std::size_t>(cut.shards());
  std::vector<DeviceId> devices;
  devices.reserve(shards);
  PerDim<Degree> at{};  // the shard's coordinates, the last dim fastest
  for (std::size_t shard = 0; shard < shards; ++shard) {
    std::size_t device = 0;
    for (Dim dim : kDims) device += static_cast<std::size_t>(at[dim]) * cut.strides[dim];
    devices.push_back(DeviceId(device));
    for (std::size_t k = kDims.size(); k-- > 0;) {
      if (++at.values[k] < owners.values[k]) break;
      at.values[k] = 0;
    }
  }
  return {cut.degrees, std::move(devices)};
}

// A dim's stride is the device of the shard that lies one further along it than the first.
std::optional<Cut> cut_of(const Config& config) {
  Cut cut{config.degrees, kWhole};
  const Degrees owners = output_degrees(config.degrees);
  std::size_t shards = 1;  // of the dims further inwards
  for (std::size_t k = kDims.size(); k-- > 0;) {
    const Dim dim = kDims[k];
    if (owners[dim] == 1) continue;
    if (shards >= config.devices.size()) return std::nullopt;
    cut.strides[dim] = static_cast<Degree>(config.devices[shards]());
    shards *= static_cast<std::size_t>(owners[dim]);
  }
  if (shards != config.devices.size() || config_of(cut) != config) return std::nullopt;
  return cut;
}

SearchSpace::SearchSpace(const Graph& graph, const Cluster& cluster, const SearchOptions& options)
    : layers_(graph.size()), variable_of_(graph.size()) {
  std::vector<bool> lies_otherwise(graph.size());  // than the choice of its variable says
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Layer& layer = graph[LayerId(i)];
    has_sums_.push_back(layer.reduction > 1);
    if (is_input(layer.op)) continue;
    LayerId leader = first_reader(graph, LayerId(i));
    if (!options.free_elementwise && is_cut_as_producer(graph, layer) &&
        !lies_otherwise[layer.inputs.front()()]) {
      leader = layer.inputs.front();
    }
    lies_otherwise[i] = layer.weight_of.valid();
    if (layer.weight_of.valid()) {
      leader = layer.weight_of;
      sharing_.emplace(LayerId(i), Sharing{layer, nullptr});
    }
    if (leader.valid()) {
      variable_of_[i] = variable_of_[leader()];
      variables_[*variable_of_[i]].layers.push_back(LayerId(i));
    } else {
      variable_of_[i] = static_cast<std::uint32_t>(variables_.size());
      variables_.push_back({LayerId(i), {LayerId(i)}, nullptr});
    }
  }
  CutLists lists(cluster, options);
  for (SearchVariable& variable : variables_) {
    std::vector<LayerId> alike = {variable.leader};
    for (LayerId layer : variable.layers) {
      if (first_reader(graph, layer).valid()) alike.push_back(layer);
    }
    variable.cuts = lists(graph, alike);
  }
  for (const auto& sharing : sharing_) {
    const Layer& shares = sharing.second.layer;
    SearchVariable& variable = variables_[*variable_of_[sharing.first()]];
    Cuts cuts = *variable.cuts;
    std::erase_if(cuts, [&](const Cut& cut) {
      const std::optional<Cut> own = cut_with_weight(shares, cut);
      return !own || (own->degrees.r > 1 && !lists.cuts_sums(shares));
    });
    variable.cuts = std::make_shared<const Cuts>(std::move(cuts));
  }
  cut_sharing_layers();
}

void SearchSpace::cut_sharing_layers() {
  for (auto& [layer, shares] : sharing_) {
    Cuts cuts;
    for (const Cut& cut : *variables_[*variable_of_[layer()]].cuts) {
      cuts.push_back(cut_with_weight(shares.layer, cut).value());
    }
    shares.cuts = std::make_shared<const Cuts>(std::move(cuts));
  }
}

Cut SearchSpace::cut_of(LayerId layer, const Cut& choice) const {
  const auto shares = sharing_.find(layer);
  if (shares != sharing_.end()) return cut_with_weight(shares->second.layer, choice).value();
  return has_sums_[layer()] ? choice : output_cut(choice);
}

Config SearchSpace::config_of(LayerId layer, const Cut& choice, const Config& leader) const {
  const Cut cut = cut_of(layer, choice);
  if (sharing_.contains(layer)) return strata::config_of(cut);
  return {cut.degrees, leader.devices};
}

std::optional<Cut> SearchSpace::choice_for(LayerId layer, const Config& config) const {
  const std::uint32_t variable = variable_of_[layer()].value();
  const bool shares = std::any_of(sharing_.begin(), sharing_.end(), [&](const auto& sharing) {
    return variable_of_[sharing.first()] == variable;
  });
  if (!shares) return strata::cut_of(config);
  for (const Cut& cut : *variables_[variable].cuts) {
    if (config_of(layer, cut, strata::config_of(cut)) == config) return cut;
  }
  return std::nullopt;
}

const std::shared_ptr<const Cuts>& SearchSpace::cuts_of(LayerId layer) const {
  const auto shares = sharing_.find(layer);
  return shares != sharing_.end() ? shares->second.cuts : variables_[*variable_of_[layer()]].cuts;
}

SearchSpace SearchSpace::restricted(const std::vector<std::vector<std::uint32_t>>& kept) const {
  SearchSpace result(*this);
  std::map<std::pair<const Cuts*, std::vector<std::uint32_t>>, std::shared_ptr<const Cuts>> lists;
  for (std::size_t v = 0; v < variables_.size(); ++v) {
    const Cuts& all = *variables_[v].cuts;
    auto& list = lists[{&all, kept[v]}];
    if (list == nullptr) {
      Cuts cuts;
      for (std::uint32_t choice : kept[v]) cuts.push_back(all[choice]);
      list = std::make_shared<const Cuts>(std::move(cuts));
    }
    result.variables_[v].cuts = list;
  }
  result.cut_sharing_layers();
  return result;
}

SearchSpace SearchSpace::fixed(std::uint32_t variable, const Cut& cut) const {
  SearchSpace result(*this);
  result.variables_[variable].cuts = std::make_shared<const Cuts>(Cuts{cut});
  result.cut_sharing_layers();
  return result;
}

std::size_t SearchSpace::max_choices() const {
  std::size_t most = 0;
  for (const SearchVariable& variable : variables_) most = std::max(most, variable.cuts->size());
  return most;
}

double SearchSpace::log10_strategies() const {
  double sum = 0;
  for (const SearchVariable& variable : variables_) {
    sum += std::log10(static_cast<double>(variable.cuts->size()));
  }
  return sum;
}

Strategy SearchSpace::strategy(std::string name, const std::vector<std::uint32_t>& choices) const {
  std::vector<Config> configs(layers_, config_on_first_devices(kWhole));
  for (std::size_t v = 0; v < variables_.size(); ++v) {
    const Cut& cut = (*variables_[v].cuts)[choices[v]];
    const Config leads = strata::config_of(cut);
    for (LayerId layer : variables_[v].layers) configs[layer()] = config_of(layer, cut, leads);
  }
  return {std::move(name), std::move(configs)};
}

namespace {

// The position of the cut that makes this config; cuts are in the order of their degrees.
std::optional<std::uint32_t> find_cut(const Cuts& cuts, const Config& config) {
  const auto less = [](const Cut& cut, const Degrees& degrees) { return cut.degrees < degrees; };
  auto at = std::lower_bound(cuts.begin(), cuts.end(), config.degrees, less);
  for (; at != cuts.end() && at->degrees == config.degrees; ++at) {
    if (strata::config_of(*at) == config) return static_cast<std::uint32_t>(at - cuts.begin());
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<std::uint32_t>> SearchSpace::choices(const Strategy& strategy) const {
  if (strategy.size() != layers_) return std::nullopt;
  std::vector<std::uint32_t> choices;
  choices.reserve(variables_.size());
  for (const SearchVariable& variable : variables_) {
    const Config& leads = strategy[variable.leader];
    const auto choice = find_cut(*variable.cuts, leads);
    if (!choice) return std::nullopt;
    const Cut& cut = (*variable.cuts)[*choice];
    const bool shared =
        std::all_of(variable.layers.begin(), variable.layers.end(),
                    [&](LayerId layer) { return strategy[layer] == config_of(layer, cut, leads); });
    if (!shared) return std::nullopt;
    choices.push_back(*choice);
  }
  return choices;
}

}  // namespace strata
