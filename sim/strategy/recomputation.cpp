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

// Of the block that fills most of the network, the first narrow place of each; of a network without
// blocks, those that make about as many segments as one has layers.
std::vector<std::size_t> ends(const Graph& graph) {
  const std::vector<std::size_t> narrow = narrow_places(graph);
  const std::vector<Repeat> blocks = repeated_blocks(graph);
  const auto filling = [](const Repeat& r) { return r.length * r.times; };
  const auto most =
      std::max_element(blocks.begin(), blocks.end(),
                       [&](const Repeat& a, const Repeat& b) { return filling(a) < filling(b); });
  std::vector<std::size_t> found;
  if (most != blocks.end() && 2 * filling(*most) > graph.size()) {
    const std::size_t before = most->first == 0 ? 0 : most->first - 1;
    const auto first = std::lower_bound(narrow.begin(), narrow.end(), before);
    if (first != narrow.end() && *first < before + most->length) {
      for (std::size_t k = 0; k <= most->times; ++k) {
        const std::size_t end = *first + k * most->length;
        if (std::binary_search(narrow.begin(), narrow.end(), end)) found.push_back(end);
      }
      return found;
    }
  }
  const auto length = static_cast<std::size_t>(std::sqrt(static_cast<double>(graph.size())));
  for (std::size_t place : narrow) {
    if (found.empty() || place >= found.back() + length) found.push_back(place);
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
    const std::vector<std::size_t> places = ends(graph);
    for (std::size_t k = 0; k + 1 < places.size(); ++k, ++next) {
      for (std::size_t i = places[k] + 1; i <= places[k + 1]; ++i) {
        if (!is_input(graph[LayerId(i)].op)) result[i] = next;
      }
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
