#include "sim/explain/named_layer.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/error.h"

namespace strata {
namespace {

constexpr std::size_t kMostNamed = 8;

// How many letters two names share at the front: typing errors sit at the end of layers' names.
std::size_t common_prefix(std::string_view a, std::string_view b) {
  const auto ends = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(ends.first - a.begin());
}

// The names that are most like this one, in the network's order among equals.
std::string names_near(const Graph& graph, const std::string& layer) {
  std::vector<std::string_view> names;
  for (const Layer& l : graph.layers()) {
    if (!is_input(l.op)) names.push_back(l.name);
  }
  std::stable_sort(names.begin(), names.end(), [&](std::string_view a, std::string_view b) {
    return common_prefix(a, layer) > common_prefix(b, layer);
  });
  const bool more = names.size() > kMostNamed;
  names.resize(std::min(names.size(), kMostNamed));
  return fmt::format("{}{}", fmt::join(names, ", "), more ? ", ..." : "");
}

}  // namespace

LayerId find_layer(const Graph& graph, const std::string& layer) {
  const LayerId id = graph.find(layer);
  if (!id.valid()) {
    throw InputError(fmt::format(
        "`layer` {}: network {} has no such layer; allowed: {} (strata show has them all)", layer,
        graph.name(), names_near(graph, layer)));
  }
  if (is_input(graph[id].op)) {
    throw InputError(
        fmt::format("`layer` {}: the network's input costs nothing to place; allowed: "
                    "{}",
                    layer, names_near(graph, layer)));
  }
  return id;
}

}  // namespace strata
