#include "sim/case/eq1_tables.h"

#include <set>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "sim/base/error.h"

namespace strata {
namespace {

constexpr double kMostBytes = 2e9;

double route_bytes(const Cluster& cluster) {
  constexpr double kEach = 16;  // up and down two switches
  const auto devices = static_cast<double>(cluster.device_count());
  return kEach * devices * devices;
}

// What the tables take at least, with the routes between all devices that they ask for: edges of
// equal choices into equal ops may share one.
double least_bytes(const Case& input, const SearchSpace& space) {
  const Graph& graph = input.graph;
  std::set<std::tuple<const Cuts*, const Cuts*, std::string_view>> seen;
  double bytes = route_bytes(input.cluster);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto to = space.variable_of(LayerId(i));
    for (LayerId producer : graph[LayerId(i)].inputs) {
      const auto from = space.variable_of(producer);
      if (!from || !to || from == to) continue;
      const Cuts *rows = space.cuts_of(producer).get(), *columns = space.cuts_of(LayerId(i)).get();
      if (!seen.emplace(rows, columns, name(graph[LayerId(i)].op)).second) continue;
      bytes += 8. * static_cast<double>(rows->size()) * static_cast<double>(columns->size());
    }
  }
  return bytes;
}

}  // namespace

std::vector<const CostModel*> cost_models(const Case& input) {
  std::vector<const CostModel*> models;
  models.reserve(input.models.size());
  for (const auto& model : input.models) models.push_back(model.get());
  return models;
}

bool routes_fit(const Cluster& cluster) {
  return route_bytes(cluster) <= kMostBytes;
}

bool eq1_tables_fit(const Case& input, const SearchSpace& space) {
  return least_bytes(input, space) <= kMostBytes;
}

void refuse_tables(const Case& input, const SearchSpace& space) {
  const double bytes = least_bytes(input, space);
  if (bytes <= kMostBytes) return;
  throw InputError(fmt::format(
      "{} on {}: with up to {} configs a layer the cost tables would take {:.0f} GB or more; "
      "allowed: {:.0f} GB: fewer devices, or `degrees` pow2, which has the fewest configs",
      input.graph.name(), input.cluster.name(), space.max_choices(), bytes / 1e9,
      kMostBytes / 1e9));
}

CostTables eq1_tables(const Case& input, const SearchSpace& space,
                      const CostTableOptions& options) {
  refuse_tables(input, space);
  CostTableOptions of_case = options;
  of_case.rounds = input.rounds;
  of_case.segments = segments(input.graph, input.recompute, kernels_of(input));
  return build_cost_tables(input.graph, input.cluster, cost_models(input), input.sync.algorithm,
                           compute_settings(input), space, of_case);
}

}  // namespace strata
