#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "sim/graph/model_file.h"
#include "sim/graph/op.h"
#include "sim/graph/ops/window.h"
#include "sim/text/toml.h"

namespace strata {
namespace {

std::string listed(const std::vector<std::string>& items) {
  return fmt::format("[{}]", fmt::join(items, ", "));
}

/// One number where all are equal, else the list.
std::string shortest(const std::vector<std::int64_t>& values) {
  const bool equal =
      std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
  if (equal) return fmt::format("{}", values[0]);
  return fmt::format("[{}]", fmt::join(values, ", "));
}

/// Writes a line for every key whose value is not what the reader falls back to.
struct Printer {
  std::string out;

  void line(std::string_view key, std::string_view value) {
    out += fmt::format("{} = {}\n", key, value);
  }

  void shape(std::string_view key, const Extents& e) {
    std::vector<std::int64_t> values = {e[Dim::c], e[Dim::d], e[Dim::h], e[Dim::w]};
    while (values.size() > 1 && values[1] == 1) values.erase(values.begin() + 1);
    line(key, fmt::format("[{}]", fmt::join(values, ", ")));
  }
  void count(std::string_view key, std::int64_t value, std::optional<std::int64_t> fallback) {
    if (fallback != value) line(key, fmt::format("{}", value));
  }
  void flag(std::string_view key, bool value, bool fallback) {
    if (value != fallback) line(key, value ? "true" : "false");
  }
  void number(std::string_view key, double value, double fallback) {
    if (value != fallback) line(key, fmt::format("{}", value));
  }
  void along(std::string_view key, const Windows& windows, int rank, std::int64_t Window::*member,
             std::optional<AlongDims> fallback) {
    std::vector<std::int64_t> values;
    bool same = fallback.has_value();
    for (Dim dim : dims_of_rank(rank)) {
      values.push_back(windows[dim].*member);
      same = same && values.back() == (*fallback)[static_cast<std::size_t>(dim) - 2];
    }
    if (!same) line(key, shortest(values));
  }
  void padding(std::string_view key, const Windows& windows, int rank) {
    std::vector<std::int64_t> begins;
    std::vector<std::string> pairs;
    bool even = true;
    for (Dim dim : dims_of_rank(rank)) {
      const Window& window = windows[dim];
      begins.push_back(window.pad_begin);
      pairs.push_back(fmt::format("[{}, {}]", window.pad_begin, window.pad_end));
      even = even && window.pad_begin == window.pad_end;
    }
    const std::string text = even ? shortest(begins) : listed(pairs);
    if (text != "0") line(key, text);
  }
  void outputs(std::string_view key, const AdaptivePooling& op) {
    const AlongDims all = {op.d, op.h, op.w};
    const std::vector<std::int64_t> values(all.end() - op.rank, all.end());
    if (const std::string text = shortest(values); text != "1") line(key, text);
  }
  void text(std::string_view key, const std::string& value) { line(key, toml_quoted(value)); }
  void name(std::string_view key, const std::string& value) {
    if (!value.empty()) text(key, value);
  }
};

/// What the reader takes when `inputs` is not written: the layer before.
bool reads_the_one_before(const Layer& layer, std::size_t at) {
  return layer.inputs.size() == 1 && layer.inputs[0]() + 1 == at;
}

std::string print_layer(const Graph& graph, std::size_t at) {
  const Layer& layer = graph.layers()[at];
  Printer printer;
  printer.out = "\n[[layer]]\n";
  printer.line("name", toml_quoted(layer.name));
  printer.line("op", toml_quoted(name(layer.op)));
  if (!layer.inputs.empty() && !reads_the_one_before(layer, at)) {
    std::vector<std::string> names;
    for (LayerId input : layer.inputs) names.push_back(toml_quoted(graph[input].name));
    printer.line("inputs", listed(names));
  }
  Op op = layer.op;
  visit_keys(op, printer);
  return printer.out;
}

}  // namespace

std::string print_model(const Graph& graph) {
  std::string text = fmt::format("name = {}\n", toml_quoted(graph.name()));
  for (std::size_t at = 0; at < graph.size(); ++at) text += print_layer(graph, at);
  return text;
}

}  // namespace strata
