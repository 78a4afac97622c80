#include "sim/trust/cost_warnings.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/case/cost_basis.h"
#include "sim/case/framework.h"

namespace strata {
namespace {

using ByKind = std::map<std::string, const CostModel*>;

ByKind models_by_kind(const Case& input) {
  ByKind models;
  for (std::size_t i = 0; i < input.models.size(); ++i) {
    models.emplace(input.cluster[DeviceId(i)].kind, input.models[i].get());
  }
  return models;
}

std::string of_type(const std::string& kind, const CostModel& model, DType dtype) {
  if (is_of_products(dtype)) {
    return fmt::format("{} has no {} arithmetic: its products are in {}", kind, name(dtype),
                       name(model.computes_in(stored(dtype)) ? stored(dtype) : DType::fp32));
  }
  return fmt::format("{} has no {} arithmetic: it computes in fp32, and {}", kind, name(dtype),
                     element_bytes(dtype) == element_bytes(DType::fp32)
                         ? "nothing is faster"
                         : "only the bytes are those of the type");
}

// Devices that share a host's memory slow one another down.
std::vector<std::string> of_counts(const Case& input, const ByKind& models) {
  std::map<std::pair<std::string, std::string>, std::int64_t> on_host;  // by kind and host
  for (const Device& device : input.cluster.devices()) ++on_host[{device.kind, device.host}];
  std::vector<std::string> found;
  std::string last;
  for (const auto& [at, count] : on_host) {
    const auto& [kind, host] = at;
    const std::int64_t measured = models.at(kind)->measured_devices();
    if (measured == 0 || measured == count || kind == last) continue;
    last = kind;  // one sentence for a kind, however many hosts there are
    found.push_back(fmt::format(
        "the costs of {} were measured on {} devices at once, and {} has {}: devices of one host "
        "share its memory, so fewer or more of them take other times",
        kind, measured, host.empty() ? "the cluster" : host, count));
  }
  return found;
}

// How much they compute nobody knows, so that the step is too short by that.
std::string of_uncosted(const Graph& graph) {
  const Uncosted found = uncosted(graph);
  return fmt::format(
      "how much {} computes is not known: {} of {} layers, with {:.3g} % of the activations and "
      "{:.3g} % of the parameters, cost the bytes that they move alone, so a step takes longer "
      "than predicted",
      fmt::join(found.ops, ", "), found.layers, graph.size(), 100 * found.activations,
      100 * found.parameters);
}

// "Resize, Einsum", each once.
std::vector<std::string> of_ops(const Graph& graph) {
  std::vector<std::string> kinds;
  std::size_t layers = 0;
  bool multiply = false, lose = false;
  for (const Layer& layer : graph.layers()) {
    const auto* opaque = std::get_if<Opaque>(&layer.op);
    if (opaque == nullptr) continue;
    ++layers;
    multiply = multiply || opaque->macs > 0;
    lose = lose || opaque->uncosted;
    if (std::find(kinds.begin(), kinds.end(), opaque->kind) == kinds.end())
      kinds.push_back(opaque->kind);
  }
  if (layers == 0) return {};
  std::vector<std::string> found = {fmt::format(
      "{} of {} layers {} opaque ({}): their costs are those of the bytes that they move{}", layers,
      graph.size(), layers == 1 ? "is" : "are", fmt::join(kinds, ", "),
      multiply ? ", and of the products that their shapes tell of" : ", without arithmetic")};
  if (lose) found.push_back(of_uncosted(graph));
  return found;
}

// What was asked for, and changes nothing.
std::vector<std::string> of_settings(const Case& input) {
  std::vector<std::string> found;
  const bool selective = input.recompute == Recompute::selective;
  if (selective && segments(input.graph, input.recompute, kernels_of(input)).empty()) {
    found.emplace_back(
        "`recompute` selective: no attention keeps its scores, so that nothing is computed again; "
        "`set` attention=unfused keeps them");
  }
  if (!input.sync.updates_on_host() && input.runtime.host != HostUpdates{}) {
    found.emplace_back("`set` host.*: no host updates parameters without `offload` optimizer");
  }
  if (input.sync.zero >= Zero::gradients && input.sync.bucket >= kOneBucket) {
    found.push_back(fmt::format(
        "`zero` {} with one bucket of all gradients, which each device then has whole at a time",
        name(input.sync.zero)));
  }
  return found;
}

}  // namespace

std::vector<std::string> cost_warnings(const Case& input) {
  const ByKind models = models_by_kind(input);
  std::vector<std::string> found;
  for (const auto& [kind, model] : models) {
    if (!model->computes_in(input.dtypes.values))
      found.push_back(of_type(kind, *model, input.dtypes.values));
  }
  for (const auto& more : {of_counts(input, models), of_ops(input.graph), of_settings(input)})
    found.insert(found.end(), more.begin(), more.end());
  return found;
}

}  // namespace strata
