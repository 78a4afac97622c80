#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/cluster/presets.h"
#include "sim/cluster/what_if.h"
#include "sim/graph/model_file.h"
#include "sim/graph/zoo.h"
#include "sim/strategy/strategy_file.h"
#include "sim/study/solve.h"

namespace strata {
namespace {

using Models = std::map<std::string, std::shared_ptr<const CostModel>>;

bool has_kind(const Cluster& cluster, const std::string& kind) {
  const auto devices = cluster.devices();
  return std::any_of(devices.begin(), devices.end(),
                     [&](const Device& device) { return device.kind == kind; });
}

Models models_from_files(const std::vector<std::string>& files, const Cluster& cluster) {
  Models models;
  for (const std::string& file : files) {
    const Profile profile = read_profile(file);
    const std::string& kind = profile.kind;
    if (!has_kind(cluster, kind)) {
      throw InputError(fmt::format("--profile {}: no device of cluster {} is of kind {}", file,
                                   cluster.name(), kind));
    }
    if (!models.emplace(kind, make_cost_model(profile)).second) {
      throw InputError(fmt::format("--profile {}: a second profile for kind {}", file, kind));
    }
  }
  return models;
}

// One model per kind, shared by its devices.
std::vector<std::shared_ptr<const CostModel>> models_by_device(const Cluster& cluster,
                                                               Models models) {
  std::vector<std::shared_ptr<const CostModel>> result;
  for (const Device& device : cluster.devices()) {
    if (device.kind.empty()) {
      throw InputError(fmt::format(
          "cluster {}: device {} has no kind, so no profile says how fast it is; allowed: "
          "kind = \"...\"",
          cluster.name(), device.name));
    }
    auto at = models.find(device.kind);
    if (at == models.end()) {
      try {
        at = models.emplace(device.kind, make_cost_model(load_profile(device.kind))).first;
      } catch (InputError& error) {
        error.add_context(fmt::format("cluster {}: device {}", cluster.name(), device.name));
        throw;
      }
    }
    result.push_back(at->second);
  }
  return result;
}

std::vector<std::shared_ptr<const CostModel>> models_for(const CaseRequest& request,
                                                         const Cluster& cluster) {
  Models models = models_from_files(request.profiles, cluster);
  try {
    return models_by_device(cluster, std::move(models));
  } catch (InputError& error) {
    if (request.cluster.ends_with(".toml")) error.add_context(request.cluster);
    throw;
  }
}

Cluster changed(const Cluster& cluster, const std::string& key, const std::string& value) try {
  return apply(cluster, key, value);
} catch (InputError& error) {
  error.add_context(fmt::format("--set {}={}", key, value));
  throw;
}

std::int64_t global_batch(const CaseRequest& request, const Cluster& cluster) {
  if (request.batch) return *request.batch;
  return request.batch_per_device * static_cast<std::int64_t>(cluster.device_count());
}

}  // namespace

std::vector<std::shared_ptr<const CostModel>> load_cost_models(
    const Cluster& cluster, const std::vector<std::string>& profiles) {
  return models_by_device(cluster, models_from_files(profiles, cluster));
}

Cluster load_cluster(const std::string& cluster, const WhatIfs& changes) {
  Cluster result = load_cluster(cluster);
  for (const auto& [key, value] : changes) result = changed(result, key, value);
  return result;
}

Graph load_model(const std::string& model, std::int64_t batch) {
  return model.ends_with(".toml") ? read_model(model, batch) : build_zoo(model, batch);
}

Strategy load_strategy(const std::string& strategy, const Case& input, const SearchOptions& space) {
  for (Strategy& usual : baselines(input)) {
    if (usual.name() == strategy) return std::move(usual);
  }
  if (strategy == "optimal") return optimal_strategy(input, space);
  if (strategy.ends_with(".json")) return read_strategy(strategy, input.graph, input.cluster);
  throw InputError(fmt::format(
      "unknown strategy '{}'; allowed: data, model, owt, optimal, or a file ending in .json",
      strategy));
}

Case load_case(const CaseRequest& request) {
  Cluster cluster = load_cluster(request.cluster, request.sets);
  Graph graph = load_model(request.model, global_batch(request, cluster));
  auto models = models_for(request, cluster);
  return {std::move(graph), std::move(cluster), request.sync, request.dtype, std::move(models)};
}

}  // namespace strata
