#include "sim/graph/regions.h"

#include <algorithm>

#include <fmt/format.h>

namespace strata {
namespace {

/// The boxes whose elements, in row-major order over dims `at`, `at`+1, ... w, are run [begin,
/// end). `box` holds the dims before `at`.
void add_run(const Extents& in, std::size_t at, std::int64_t begin, std::int64_t end, Box box,
             std::vector<Box>& out) {
  std::int64_t inner = 1;
  for (std::size_t k = at + 1; k < kDims.size(); ++k) inner *= in.values[k];
  const std::int64_t first = begin / inner, last = (end - 1) / inner;  // the slices it touches
  const auto add_part = [&](std::int64_t slice, std::int64_t from, std::int64_t to) {
    box.values[at] = {slice, slice + 1};
    add_run(in, at + 1, from, to, box, out);
  };
  const bool whole_head = begin == first * inner, whole_tail = end == (last + 1) * inner;
  if (first == last && !(whole_head && whole_tail)) {
    return add_part(first, begin - first * inner, end - first * inner);
  }
  if (!whole_head) add_part(first, begin - first * inner, inner);
  box.values[at] = {first + (whole_head ? 0 : 1), last + (whole_tail ? 1 : 0)};
  for (std::size_t k = at + 1; k < kDims.size(); ++k) box.values[k] = {0, in.values[k]};
  if (!box.values[at].empty()) out.push_back(box);
  if (!whole_tail) add_part(last, 0, end - last * inner);
}

ReadContext context_of(const Graph& graph, const Layer& layer, std::size_t input) {
  ReadContext context{graph[layer.inputs[input]].output, layer.output, 0, input};
  for (std::size_t k = 0; k < input; ++k) {
    context.channels_before += graph[layer.inputs[k]].output[Dim::c];
  }
  return context;
}

// Of c, d, h and w together.
std::vector<Box> run_of(const Extents& in, const Box& output) {
  Box box;
  box[Dim::n] = output[Dim::n];
  std::vector<Box> boxes;
  add_run(in, 1, output[Dim::c].begin, output[Dim::c].end, box, boxes);
  return boxes;
}

}  // namespace

AccessMap access_map(const Graph& graph, LayerId layer, std::size_t input) {
  const Layer& it = graph[layer];
  return access_map(it.op, context_of(graph, it, input));
}

std::vector<Box> needed_input(const Graph& graph, LayerId layer, std::size_t input,
                              const Tile& shard) {
  const Extents& in = graph[graph[layer].inputs[input]].output;
  return needed_input(access_map(graph, layer, input), in, shard);
}

std::vector<Box> needed_input(const AccessMap& access, const Extents& in, const Tile& shard) {
  if (access.row_major) return run_of(in, shard);
  Box box;
  for (Dim dim : kDims) {
    box[dim] = needed(access.dims[dim], shard[dim], in[dim], shard.terms);
    if (box[dim].empty()) return {};
  }
  return {box};
}

std::optional<std::size_t> earlier_reading(const Layer& layer, std::size_t input) {
  if (!traits(layer.op).reads_all_alike) return std::nullopt;
  for (std::size_t earlier = 0; earlier < input; ++earlier) {
    if (layer.inputs[earlier] == layer.inputs[input]) return earlier;
  }
  return std::nullopt;
}

namespace {

// The layers that read it, and those that read it through a norm, or with what adapts it.
std::vector<LayerId> readers_beyond(const Graph& graph, LayerId layer) {
  std::vector<LayerId> readers;
  for (LayerId reader : graph.consumers(layer)) {
    readers.push_back(reader);
    const bool adapted = graph[reader].adapts == layer;
    if (!adapted && !std::holds_alternative<RmsNorm>(graph[reader].op)) continue;
    const auto beyond = adapted ? readers_beyond(graph, reader)
                                : std::vector<LayerId>(graph.consumers(reader).begin(),
                                                       graph.consumers(reader).end());
    readers.insert(readers.end(), beyond.begin(), beyond.end());
  }
  return readers;
}

}  // namespace

bool meet(const Graph& graph, LayerId a, LayerId b) {
  const auto readers = readers_beyond(graph, a), others = readers_beyond(graph, b);
  return std::find_first_of(readers.begin(), readers.end(), others.begin(), others.end()) !=
         readers.end();
}

namespace {

// Whether they are one product's, or products' that meet.
bool belong_together(const Graph& graph, LayerId a, LayerId b) {
  const auto product = [&](LayerId layer) {
    const LayerId base = graph[layer].adapts;
    return base.valid() ? base : layer;
  };
  return product(a) == product(b) || meet(graph, product(a), product(b));
}

}  // namespace

LayerId first_reader(const Graph& graph, LayerId layer) {
  const Layer& it = graph[layer];
  if (!traits(it.op).shares_reading || it.weight_of.valid()) return {};
  if (is_input(graph[it.inputs.front()].op)) return {};
  for (LayerId reader : graph.consumers(it.inputs.front())) {
    if (reader == layer) break;
    const Layer& before = graph[reader];
    if (before.op.index() == it.op.index() && !before.weight_of.valid() &&
        graph.needs_gradient(reader) == graph.needs_gradient(layer) &&
        belong_together(graph, reader, layer)) {
      return reader;
    }
  }
  return {};
}

Statistics statistics(const Layer& layer, const Box& output) {
  return statistics(layer.op, output);
}

Parameters shard_parameters(const Layer& layer, const Tile& shard) {
  const Parameters& all = layer.parameters;
  const std::int64_t rows = all.rows(layer.output), held = all.rows(extents(shard));
  if (held == rows && terms_in(layer, shard) == layer.reduction) return all;
  const std::int64_t bias = shard.terms.begin == 0 ? all.bias / rows : 0;
  const std::int64_t row = all.weight / rows / layer.reduction * terms_in(layer, shard);
  return {row * held, bias * held, all.loops, all.channels_a_row};
}

Extents most_parts(const Layer& layer) {
  Extents most = layer.output;
  for (Dim dim : kDims) {
    if (layer.units[dim] > 0) most[dim] = layer.units[dim];
    if (!why_whole(layer.op, dim).empty()) most[dim] = 1;
  }
  return most;
}

bool may_cut(const Layer& layer, Dim dim, std::int64_t degree) {
  if (degree < 1 || degree > most_parts(layer)[dim]) return false;
  return layer.units[dim] == 0 || layer.units[dim] % degree == 0;
}

std::int32_t clipped(const Layer& layer, Dim dim, std::int64_t wanted) {
  auto degree = static_cast<std::int32_t>(std::min(wanted, most_parts(layer)[dim]));
  while (!may_cut(layer, dim, degree)) --degree;
  return degree;
}

std::string why_no_more(const Layer& layer, Dim dim) {
  const std::string_view why = why_whole(layer.op, dim);
  if (!why.empty()) return std::string(why);
  if (layer.units[dim] == 0) return "its extent";
  const std::string_view units = dim == Dim::c ? "heads" : "groups of tokens";
  return fmt::format("a divisor of its {} {}", layer.units[dim], units);
}

std::int64_t most_parts_of_sums(const Layer& layer) {
  if (layer.reduction > 1) return layer.reduction;
  const Extents most = most_parts(layer);
  return is_loss(layer.op) ? 1 : *std::max_element(most.values.begin(), most.values.end());
}

std::string_view why_no_more_terms(const Layer& layer) {
  if (layer.reduction > 1) {
    return traits(layer.op).terms_lead ? "its vocabulary" : "its input channels";
  }
  return is_loss(layer.op) ? "for copies of a loss would count twice"
                           : "for copies share its gradient along one dim";
}

PerDim<bool> may_scatter(const Layer& layer, const Degrees& degrees) {
  PerDim<bool> may;
  const Extents most = most_parts(layer);
  for (Dim dim : kDims) may[dim] = std::int64_t{degrees[dim]} * degrees.r <= most[dim];
  return may;
}

}  // namespace strata
