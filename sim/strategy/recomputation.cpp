#include "sim/strategy/recomputation.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "sim/graph/blocks.h"
#include "sim/graph/regions.h"

namespace strata {
namespace {

bool keeps_something(const Graph& graph, const Layer& layer, const KernelTraits& kernels) {
  std::vector<Extents> inputs;
  inputs.reserve(layer.inputs.size());
  for (LayerId input : layer.inputs) inputs.push_back(graph[input].output);
  const Saved kept = saved(layer.op, {whole(layer.output), inputs, DType::fp32, kernels});
  return kept.values > 0 || kept.each_element || kept.elements > 0 || kept.masks > 0;
}

// Layers that one of them reads for.
std::vector<bool> sharing_a_reading(const Graph& graph) {
  std::vector<bool> sharing(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const LayerId first = first_reader(graph, LayerId(i));
    if (first.valid()) sharing[i] = sharing[first()] = true;
  }
  return sharing;
}

// Layers after which a single tensor goes on: their own output.
std::vector<std::size_t> narrow_places(const Graph& graph) {
  std::vector<std::size_t> last_reader(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    for (LayerId input : graph[LayerId(i)].inputs) last_reader[input()] = i;
  }
  std::vector<std::size_t> places;
  std::size_t reaches = 0;  // of the layers before this one, how far the furthest is read
  for (std::size_t i = 0; i + 1 < graph.size(); ++i) {
    if (reaches <= i && !is_input(graph[LayerId(i)].op) && last_reader[i] > i) places.push_back(i);
    reaches = std::max(reaches, last_reader[i]);
  }
  return places;
}

// Whether the layers after both places are alike, as far as it takes to tell a block by.
bool begin_alike(const std::vector<std::size_t>& alike, std::size_t a, std::size_t b) {
  const std::size_t most = alike.size() - 1 - std::max(a, b);
  const auto from = [&](std::size_t place) {
    return alike.begin() + static_cast<std::ptrdiff_t>(place) + 1;
  };
  return most >= kLeastLayers && std::equal(from(a), from(a) + kLeastLayers, from(b));
}

/// The layers after `begin` up to `end`, both narrow places.
struct Stretch {
  std::size_t begin, end;
};

// The block that fills most of the network, from its first narrow place on, and those elsewhere
// that begin alike, as a mixture's dense ones. Each has as many narrow places.
std::vector<Stretch> blocks(const Graph& graph, const std::vector<std::size_t>& narrow) {
  const std::vector<Repeat> repeated = repeated_blocks(graph);
  const auto filling = [](const Repeat& r) { return r.length * r.times; };
  const auto most =
      std::max_element(repeated.begin(), repeated.end(),
                       [&](const Repeat& a, const Repeat& b) { return filling(a) < filling(b); });
  if (most == repeated.end() || 2 * filling(*most) <= graph.size()) return {};
  const std::size_t before = most->first == 0 ? 0 : most->first - 1;
  const auto first = std::lower_bound(narrow.begin(), narrow.end(), before);
  if (first == narrow.end() || *first >= before + most->length) return {};
  const std::vector<std::size_t> alike = alike_layers(graph);
  std::vector<std::size_t> begins;  // numbers of narrow places
  for (std::size_t k = 0; k < narrow.size(); ++k) {
    if (begin_alike(alike, narrow[k], *first)) begins.push_back(k);
  }
  const auto own = static_cast<std::size_t>(first - narrow.begin());
  const auto next = std::upper_bound(begins.begin(), begins.end(), own);
  if (next == begins.end()) return {};
  std::vector<Stretch> found;
  for (const std::size_t begin : begins) {
    const std::size_t end = begin + *next - own;
    if (end < narrow.size()) found.push_back({narrow[begin], narrow[end]});
  }
  return found;
}

// About as many as each has layers.
std::vector<Stretch> equal_stretches(const Graph& graph, const std::vector<std::size_t>& narrow) {
  const auto length = static_cast<std::size_t>(std::sqrt(static_cast<double>(graph.size())));
  std::vector<Stretch> found;
  for (std::size_t begin = 0, k = 1; k < narrow.size(); ++k) {
    if (narrow[k] < narrow[begin] + length) continue;
    found.push_back({narrow[begin], narrow[k]});
    begin = k;
  }
  return found;
}

}  // namespace

Segments segments(const Graph& graph, Recompute recompute, const KernelTraits& kernels) {
  Segments result(graph.size());
  std::uint32_t next = 1;
  if (recompute == Recompute::selective && !kernels.fused_attention()) {
    for (std::size_t i = 0; i < graph.size(); ++i) {
      if (std::holds_alternative<Attention>(graph[LayerId(i)].op)) result[i] = next++;
    }
  } else if (recompute == Recompute::full) {
    const std::vector<std::size_t> narrow = narrow_places(graph);
    std::vector<Stretch> stretches = blocks(graph, narrow);
    if (stretches.empty()) stretches = equal_stretches(graph, narrow);
    for (const auto& [begin, end] : stretches) {
      for (std::size_t i = begin + 1; i <= end; ++i) {
        if (!is_input(graph[LayerId(i)].op)) result[i] = next;
      }
      ++next;
    }
  }
  return next == 1 ? Segments{} : result;
}

KernelTraits keeping_most(std::span<const KernelTraits> kernels) {
  KernelTraits most;
  for (const KernelTraits& own : kernels) {
    if (!own.fused_attention()) most.attention = own.attention;
    most.clips_gradients = most.clips_gradients || own.clips_gradients;
    most.unscales_gradients = most.unscales_gradients || own.unscales_gradients;
    most.keeps_masks = most.keeps_masks || own.keeps_masks;
  }
  return most;
}

// From the last layer back: what is needed of a layer follows from its own backward pass, and from
// those that read it.
std::vector<bool> computed_again(const Graph& graph, const Segments& segments,
                                 const KernelTraits& kernels) {
  std::vector<bool> again(graph.size());
  if (segments.empty()) return again;
  const std::vector<bool> sharing = sharing_a_reading(graph);
  for (std::size_t i = graph.size(); i-- > 0;) {
    const LayerId id(i);
    const Layer& layer = graph[id];
    if (segments[i] == 0 || !graph.needs_gradient(id)) continue;
    const auto readers = graph.consumers(id);
    const bool is_read = std::any_of(readers.begin(), readers.end(), [&](LayerId reader) {
      return segments[reader()] == segments[i] &&
             (again[reader()] || backward_reads_input(graph[reader]));
    });
    again[i] = is_read || sharing[i] || backward_reads_output(layer.op) ||
               keeps_something(graph, layer, kernels);
  }
  return again;
}

}  // namespace strata
