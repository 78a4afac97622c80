#include "sim/graph/what_if.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/text/units.h"

namespace strata {
namespace {

// Beyond these, times would leave what the clock holds.
constexpr double kLeastLayerSpeed = 1e-9, kMostLayerSpeed = 1e9;

bool selects(std::string_view selector, const Layer& layer) {
  return selector == "*" || layer.name == selector || name(layer.op) == selector;
}

std::string ops_of(const Graph& graph) {
  std::set<std::string_view> ops;
  for (const Layer& layer : graph.layers()) ops.insert(name(layer.op));
  return fmt::format("{}", fmt::join(ops, ", "));
}

}  // namespace

Graph with_layer_speed(const Graph& graph, std::string_view selector, double speed) {
  std::vector<double> speeds;
  bool selected = false;
  for (const Layer& layer : graph.layers()) {
    const bool chosen = selects(selector, layer);
    speeds.push_back(chosen ? speed : layer.speed);
    selected = selected || chosen;
  }
  if (selected) return graph.with_speeds(speeds);
  throw InputError(fmt::format("{} has no layer '{}'; allowed: *, an op ({}), or a layer's name",
                               graph.name(), selector, ops_of(graph)));
}

bool has_layer(const Graph& graph, std::string_view selector) {
  return std::ranges::any_of(graph.layers(),
                             [&](const Layer& layer) { return selects(selector, layer); });
}

double parse_layer_speed(std::string_view text) {
  try {
    const double speed = is_factor(text) ? parse_factor(text) : parse_number(text);
    if (speed >= kLeastLayerSpeed && speed <= kMostLayerSpeed) return speed;
  } catch (const InputError&) {  // said below, with what is allowed
  }
  throw InputError(fmt::format(
      "'{}' is not a layer's speed; allowed: a number or factor from {:g} to {:g}, as in \"2x\"",
      text, kLeastLayerSpeed, kMostLayerSpeed));
}

}  // namespace strata
