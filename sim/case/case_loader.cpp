#include "sim/case/case_loader.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/case/framework.h"
#include "sim/case/network.h"
#include "sim/case/rounds.h"
#include "sim/case/what_ifs.h"
#include "sim/cluster/presets.h"
#include "sim/cluster/what_if.h"
#include "sim/text/units.h"

namespace strata {
namespace {

bool has_kind(const Cluster& cluster, const std::string& kind) {
  const auto devices = cluster.devices();
  return std::any_of(devices.begin(), devices.end(),
                     [&](const Device& device) { return device.kind == kind; });
}

template <class Change>
void naming(const std::string& key, const std::string& value, const Change& change) try {
  change();
} catch (InputError& error) {
  error.add_context(fmt::format("`set` {}={}", key, value));
  throw;
}

// Of the map's key, made where it is not there yet.
template <class Map, class Make>
typename Map::mapped_type remembered(std::mutex& lock, Map& map, const typename Map::key_type& key,
                                     const Make& make) {
  {
    const std::lock_guard guard(lock);
    const auto known = map.find(key);
    if (known != map.end()) return known->second;
  }
  constexpr std::size_t kMost = 256;  // a sweep over thousands of batches needs each once
  auto made = make();
  const std::lock_guard guard(lock);
  if (map.size() >= kMost) map.clear();
  return map.try_emplace(key, std::move(made)).first->second;
}

// What trains transformers (Megatron-LM, DeepSpeed, PyTorch's DTensor) asks a library for what
// their shards gather and sum; the runtimes that cut other networks layer by layer copy between
// devices.
Exchanges usual_exchanges(const Graph& graph) {
  const std::span<const Layer> layers = graph.layers();
  const auto attends = [](const Layer& layer) {
    return std::holds_alternative<Attention>(layer.op);
  };
  return std::any_of(layers.begin(), layers.end(), attends) ? Exchanges::collective
                                                            : Exchanges::pairwise;
}

// What a device's kind has is known here; a cluster knows only what its devices say themselves.
void check_memory(const Case& input) {
  for (std::size_t d = 0; d < input.models.size(); ++d) {
    const Device& device = input.cluster[DeviceId(d)];
    if (memory_capacity(input, DeviceId(d)) > Bytes{}) continue;
    throw InputError(
        fmt::format("device {}: memory_reserve of {} leaves nothing of its {}", device.name,
                    format_bytes(device.memory_reserve),
                    format_bytes(device.memory.value_or(input.models[d]->memory_capacity()))));
  }
}

}  // namespace

// Of the whole batch; of one that is cut, of the round with a group on every device, for strategies
// may cut so much (of the whole batch where it has fewer groups), or with as many groups as a
// network of this size allows.
Graph CaseLoader::network_of_round(const CaseRequest& request, std::int64_t batch,
                                   const Cluster& cluster) {
  const auto devices = static_cast<std::int64_t>(cluster.device_count());
  if (!request.training.micro_batch) return network(request, batch);
  const std::int64_t round = *request.training.micro_batch;
  const bool all_have_one = round <= batch / devices;
  std::int64_t groups = all_have_one ? devices : batch / round;
  for (std::int64_t samples = all_have_one ? round * devices : batch;; samples = round * groups) {
    try {
      return network(request, samples);
    } catch (const InputError&) {
      if (groups <= 1) throw;
    }
    groups /= 2;
  }
}

Graph CaseLoader::network(const CaseRequest& request, std::int64_t batch) {
  return remembered(
      lock_, networks_,
      {network_name(request), batch, request.unsupported, request.dims, request.training.train},
      [&] { return load_network(request, batch).graph; });
}

Cluster CaseLoader::cluster(const std::string& name) {
  return remembered(lock_, clusters_, name, [&] { return load_cluster(name); });
}

std::vector<std::string> CaseLoader::kinds(const std::string& name) {
  std::vector<std::string> kinds;
  const Cluster found = cluster(name);
  for (const Device& device : found.devices()) {
    if (std::find(kinds.begin(), kinds.end(), device.kind) == kinds.end()) {
      kinds.push_back(device.kind);
    }
  }
  return kinds;
}

CaseLoader::Models CaseLoader::from_files(const std::vector<std::string>& files,
                                          const Cluster& cluster, std::string_view named) {
  Models models;
  for (const std::string& file : files) {
    const FileModel found = remembered(lock_, files_, file, [&]() -> FileModel {
      const Profile profile = read_profile(file);
      return {profile.kind, make_cost_model(profile)};
    });
    if (!has_kind(cluster, found.kind)) {
      throw InputError(fmt::format("{}{}: no device of cluster {} is of kind {}", named, file,
                                   cluster.name(), found.kind));
    }
    if (!models.emplace(found.kind, found.model).second) {
      throw InputError(fmt::format("{}{}: a second profile for kind {}", named, file, found.kind));
    }
  }
  return models;
}

std::shared_ptr<const CostModel> CaseLoader::shipped(const Device& device, const Cluster& cluster) {
  if (device.kind.empty()) {
    throw InputError(
        fmt::format("cluster {}: device {} has no kind, so no profile says how fast it is; "
                    "allowed: kind = \"...\"",
                    cluster.name(), device.name));
  }
  try {
    return remembered(lock_, shipped_, device.kind, [&]() -> std::shared_ptr<const CostModel> {
      return make_cost_model(load_profile(device.kind));
    });
  } catch (InputError& error) {
    error.add_context(fmt::format("cluster {}: device {}", cluster.name(), device.name));
    throw;
  }
}

std::vector<std::shared_ptr<const CostModel>> CaseLoader::cost_models(
    const Cluster& cluster, const std::vector<std::string>& profiles) {
  return by_device(cluster, from_files(profiles, cluster));
}

// One model per kind, shared by its devices.
std::vector<std::shared_ptr<const CostModel>> CaseLoader::by_device(const Cluster& cluster,
                                                                    const Models& from_files) {
  std::vector<std::shared_ptr<const CostModel>> result;
  for (const Device& device : cluster.devices()) {
    const auto at = from_files.find(device.kind);
    result.push_back(at != from_files.end() ? at->second : shipped(device, cluster));
  }
  return result;
}

Case CaseLoader::load(const CaseRequest& request) {
  Cluster named = cluster(request.cluster);
  const std::int64_t batch = batch_of(request.training, named.device_count());
  Graph graph = network_of_round(request, batch, named);
  Case result{
      std::move(graph), std::move(named), request.training.sync, request.training.dtype, {}};
  const Models files = from_files(request.profiles, result.cluster);
  try {
    result.models = by_device(result.cluster, files);
  } catch (InputError& error) {
    if (request.cluster.ends_with(".toml")) error.add_context(request.cluster);
    throw;
  }
  result.optimizer = request.training.optimizer;
  result.train = request.training.train;
  if (request.training.gradients) result.dtypes.gradients = dtype_of(*request.training.gradients);
  cut_in_time(request.training, batch, result);
  result.exchanges = usual_exchanges(result.graph);
  run_as(load_framework(request.framework), result, request.sets);
  try {
    check(result.sync);
  } catch (InputError& error) {
    if (result.framework != kNoFramework) {
      error.add_context(fmt::format("`as` {}", result.framework));
    }
    throw;
  }
  for (const auto& set : request.sets) {
    naming(set.first, set.second, [&] { change(result, set.first, set.second); });
  }
  settle_dispatch(result, request.sets);
  settle_what_ifs(result);
  check_memory(result);
  return result;
}

std::vector<std::shared_ptr<const CostModel>> load_cost_models(
    const Cluster& cluster, const std::vector<std::string>& profiles) {
  return CaseLoader().cost_models(cluster, profiles);
}

Cluster load_cluster(const std::string& cluster, const WhatIfs& changes) {
  Cluster result = load_cluster(cluster);
  for (const auto& set : changes) {
    naming(set.first, set.second, [&] { result = apply(result, set.first, set.second); });
  }
  return result;
}

Case load_case(const CaseRequest& request) {
  return CaseLoader().load(request);
}

}  // namespace strata
