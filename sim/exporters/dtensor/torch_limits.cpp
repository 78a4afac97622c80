#include "sim/exporters/dtensor/torch_limits.h"

#include <algorithm>
#include <string_view>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/graph/regions.h"

namespace strata {
namespace {

// torch.chunk's parts are all of the first one's size but the last; ours differ by one at most.
void tell_uneven(const Layer& layer, const Degrees& degrees, std::vector<std::string>& limits) {
  for (Dim dim : kDims) {
    const std::int64_t extent = layer.output[dim], degree = degrees[dim];
    if (extent % degree == 0) continue;
    limits.push_back(fmt::format(
        "{} = {} in {} parts: DTensor's have {}, the last ones less or nothing; Strata's {} or {}",
        name(dim), extent, degree, (extent + degree - 1) / degree, extent / degree,
        extent / degree + 1));
  }
}

void tell_idle(const Degrees& degrees, std::int64_t devices, std::vector<std::string>& limits) {
  if (product(degrees) == devices) return;
  limits.push_back(
      fmt::format("it is on {} of {} devices: on a mesh the others compute the same again",
                  product(degrees), devices));
}

void tell_halo(const Graph& graph, LayerId layer, const Degrees& degrees,
               std::vector<std::string>& limits) {
  const AccessMap access = access_map(graph, layer, 0);
  for (Dim dim : kSpatialDims) {
    if (degrees[dim] == 1 || !access.reads_neighbours(dim)) continue;
    limits.push_back(fmt::format(
        "cut in {}: its windows reach into the neighbours' parts, which DTensor does not exchange",
        name(dim)));
  }
  if (degrees[Dim::c] > 1 && access.reads_neighbours(Dim::c)) {
    limits.emplace_back("cut in c: it reads the neighbours' channels");
  }
}

void tell_statistics(const Layer& layer, const Degrees& degrees, std::vector<std::string>& limits) {
  if (is_loss(layer.op)) return;
  const PerDim<bool> over = statistics(layer, whole(layer.output)).over;
  std::vector<std::string_view> cut;
  for (Dim dim : kDims) {
    if (over[dim] && degrees[dim] > 1) cut.push_back(name(dim));
  }
  if (cut.empty()) return;
  limits.push_back(fmt::format(
      "cut in {}: its statistics are those of all parts: sum them, as SyncBatchNorm does",
      fmt::join(cut, ", ")));
}

void tell_op(const Layer& layer, const Degrees& degrees, std::vector<std::string>& limits) {
  const bool in_channels = degrees[Dim::c] > 1;
  if (in_channels && std::holds_alternative<Convolution>(layer.op)) {
    limits.emplace_back(
        "cut in c: DTensor takes a convolution's cut from its input alone, so that its weight must "
        "be convolved as a local tensor");
  }
  if (in_channels && std::holds_alternative<SoftmaxCrossEntropy>(layer.op)) {
    limits.emplace_back("cut in c: it needs loss_parallel() of torch.distributed.tensor.parallel");
  }
  if (std::holds_alternative<Opaque>(layer.op))
    limits.emplace_back("what it computes is not known: nor whether DTensor can cut it so");
}

// The last so many of d, h, w, over which any layer extends.
std::ptrdiff_t spatial_dims(const Graph& graph) {
  std::size_t most = 0;
  for (const Layer& layer : graph.layers()) {
    for (std::size_t k = 0; k < kSpatialDims.size(); ++k) {
      if (layer.output[kSpatialDims[k]] > 1) most = std::max(most, kSpatialDims.size() - k);
    }
  }
  return static_cast<std::ptrdiff_t>(most);
}

bool flattens(const Op& op) {
  return std::holds_alternative<FullyConnected>(op) || std::holds_alternative<Flatten>(op);
}

bool slides(const Op& op) {
  return std::holds_alternative<Convolution>(op) || std::holds_alternative<Pooling>(op) ||
         std::holds_alternative<AdaptivePooling>(op);
}

}  // namespace

std::vector<std::string> dtensor_limits(const Graph& graph, LayerId id, const Degrees& degrees,
                                        std::int64_t devices) {
  const Layer& layer = graph[id];
  std::vector<std::string> limits;
  tell_uneven(layer, degrees, limits);
  tell_idle(degrees, devices, limits);
  tell_halo(graph, id, degrees, limits);
  tell_statistics(layer, degrees, limits);
  tell_op(layer, degrees, limits);
  return limits;
}

std::vector<std::vector<Dim>> torch_dims(const Graph& graph) {
  const std::vector<Dim> flat = {Dim::n, Dim::c};
  std::vector<Dim> deep = flat;
  deep.insert(deep.end(), kSpatialDims.end() - spatial_dims(graph), kSpatialDims.end());
  std::vector<std::vector<Dim>> dims;
  for (const Layer& layer : graph.layers()) {
    const bool follows =
        !layer.inputs.empty() && dims[layer.inputs.front()()] == flat && !slides(layer.op);
    dims.push_back(flattens(layer.op) || follows ? flat : deep);
  }
  return dims;
}

}  // namespace strata
