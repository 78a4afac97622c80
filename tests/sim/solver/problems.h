#pragma once

// Problems drawn by hand: a graph, its choices, and what fills the tables.

#include <memory>
#include <utility>
#include <vector>

#include "sim/solver/solution.h"

namespace strata::testing {

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// Tables whose entries are `draw()`, a whole number, as multiples of the quantum.
template <class Draw>
CostTables make_tables(const std::vector<std::size_t>& choices, const Pairs& edges, Draw draw) {
  CostTables tables;
  tables.quantum = 1.0 / 1024;
  const auto entries = [&](std::size_t count) {
    std::vector<double> values(count);
    for (double& value : values) value = draw() * tables.quantum;
    return values;
  };
  for (std::size_t count : choices) {
    tables.variables.push_back(std::make_shared<const std::vector<double>>(entries(count)));
  }
  for (const auto& [from, to] : edges) {
    const auto rows = static_cast<std::uint32_t>(choices[from]);
    const auto columns = static_cast<std::uint32_t>(choices[to]);
    tables.edges.push_back({from, to,
                            std::make_shared<const CostTable>(
                                CostTable{rows, columns, entries(std::size_t{rows} * columns)})});
  }
  return tables;
}

/// One choice each, all costs 0: a graph.
inline CostTables make_graph(std::size_t nodes, const Pairs& edges) {
  return make_tables(std::vector<std::size_t>(nodes, 1), edges, [] { return 0.0; });
}

}  // namespace strata::testing
