#include "sim/exporters/dtensor/torch_limits.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/exporters/dtensor/torch_tensors.h"
#include "sim/graph/regions.h"
#include "sim/strategy/config_text.h"

namespace strata {
namespace {

// torch.chunk's parts are all of the first one's size but the last; ours differ by one at most.
void tell_uneven(std::string_view what, std::int64_t extent, std::int64_t degree,
                 std::vector<std::string>& limits) {
  if (extent % degree == 0) return;
  limits.push_back(fmt::format(
      "{} = {} in {} parts: DTensor's have {}, the last ones less or nothing; Strata's {} or {}",
      what, extent, degree, (extent + degree - 1) / degree, extent / degree, extent / degree + 1));
}

void tell_uneven(const Layer& layer, const Degrees& degrees, std::vector<std::string>& limits) {
  const bool copies = layer.reduction == 1;
  const Degrees owners = copies ? degrees : output_degrees(degrees);
  for (Dim dim : kDims) tell_uneven(name(dim), layer.output[dim], owners[dim], limits);
  if (!copies) tell_uneven("r", layer.reduction, degrees.r, limits);
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
        "cut in {}: its windows reach into the neighbours' parts, which DTensor gathers whole",
        name(dim)));
  }
  if (degrees[Dim::c] > 1 && access.reads_neighbours(Dim::c)) {
    limits.emplace_back("cut in c: it reads the neighbours' channels, which DTensor gathers whole");
  }
}

void tell_statistics(const Layer& layer, const Degrees& degrees, std::vector<std::string>& limits) {
  if (is_loss(layer.op)) return;
  const PerDim<bool> over = statistics(layer, whole(layer.output)).over;
  if (over[Dim::c] && degrees[Dim::c] > 1) {
    limits.emplace_back(
        "cut in c: its statistics are those of all channels, which DTensor gathers");
  }
  std::vector<std::string_view> cut;
  for (Dim dim : kDims) {
    if (over[dim] && degrees[dim] > 1 && dim != Dim::c) cut.push_back(name(dim));
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
        "be convolved as a local tensor, as parallelize() does");
  }
  if (in_channels && std::holds_alternative<SoftmaxCrossEntropy>(layer.op)) {
    limits.emplace_back("cut in c: it needs loss_parallel() of torch.distributed.tensor.parallel");
  }
  if (std::holds_alternative<Opaque>(layer.op))
    limits.emplace_back("what it computes is not known: nor whether DTensor can cut it so");
}

// Whether some rank's part of so many channels is empty: each dim of the mesh cuts as torch.chunk
// does. The smallest part is the last one's.
bool leaves_none(std::int64_t channels, const LayerLayout& layout,
                 std::span<const std::int64_t> mesh) {
  for (std::size_t m = 0; m < mesh.size(); ++m) {
    if (layout.cuts[m] != Dim::c || layout.terms[m]) continue;
    const std::int64_t chunk = (channels + mesh[m] - 1) / mesh[m];
    channels = std::max<std::int64_t>(0, channels - chunk * (mesh[m] - 1));
  }
  return channels == 0;
}

// A causal mask and rotary positions start at a rank's first query, which torch's attention takes
// for the sequence's first.
std::string why_no_attention(const Graph& graph, const Layer& layer, const Attention& attention,
                             const Degrees& degrees) {
  const std::int64_t heads = graph[layer.inputs[1]].output[Dim::c] / attention.own_key_size();
  if (heads % degrees[Dim::c] != 0) {
    return fmt::format(
        "c={}: its {} heads of keys do not divide, and DTensor gives no two ranks the same one",
        degrees[Dim::c], heads);
  }
  if (degrees[Dim::w] > 1 && (attention.causal || attention.rotary > 0)) {
    return fmt::format(
        "w={}: its queries' positions differ by rank, for which PyTorch has context_parallel() of "
        "torch.distributed.tensor.experimental, in a ring",
        degrees[Dim::w]);
  }
  return "";
}

void tell_dropout(const Layer& layer, const Degrees& degrees, std::vector<std::string>& limits) {
  const auto* attention = std::get_if<Attention>(&layer.op);
  if (attention == nullptr || attention->dropout == 0 || product(degrees) == 1) return;
  limits.emplace_back(
      "its dropout is drawn by each rank for its own part, not as that of the whole layer");
}

}  // namespace

std::string why_no_dtensor(const Graph& graph, LayerId id, const LayerLayout& layout,
                           std::span<const std::int64_t> mesh, const Degrees& degrees) {
  const Layer& layer = graph[id];
  if (slides(layer.op) && leaves_none(layer.output[Dim::c], layout, mesh)) {
    return fmt::format("c={}: DTensor leaves some ranks none of its {} channels", degrees[Dim::c],
                       layer.output[Dim::c]);
  }
  const auto sums = std::count(layout.terms.begin(), layout.terms.end(), true);
  if (sums > 0 && std::holds_alternative<Convolution>(layer.op)) {
    return fmt::format("r={}: DTensor convolves no part of the channels", degrees.r);
  }
  if (std::holds_alternative<Embedding>(layer.op) &&
      (sums > 1 || (sums == 1 && degrees[Dim::c] > 1))) {
    return fmt::format("{}: DTensor looks words up in a weight that one dim of the mesh cuts",
                       config_text(degrees));
  }
  if (const auto* attention = std::get_if<Attention>(&layer.op)) {
    return why_no_attention(graph, layer, *attention, degrees);
  }
  return "";
}

std::vector<std::string> dtensor_limits(const Graph& graph, LayerId id, const Degrees& degrees,
                                        std::int64_t devices) {
  const Layer& layer = graph[id];
  std::vector<std::string> limits;
  tell_uneven(layer, degrees, limits);
  tell_idle(degrees, devices, limits);
  tell_halo(graph, id, degrees, limits);
  tell_statistics(layer, degrees, limits);
  tell_op(layer, degrees, limits);
  tell_dropout(layer, degrees, limits);
  return limits;
}

}  // namespace strata
