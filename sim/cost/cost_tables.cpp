#include "sim/cost/cost_tables.h"

#include <set>

namespace strata {

double CostTables::seconds(std::span<const std::uint32_t> choices) const {
  double sum = 0;
  for (std::size_t v = 0; v < variables.size(); ++v) sum += (*variables[v])[choices[v]];
  for (const Edge& edge : edges) sum += edge.table->at(choices[edge.from], choices[edge.to]);
  return sum;
}

std::size_t CostTables::bytes() const {
  std::set<const void*> seen;
  std::size_t entries = 0;
  for (const Vector& variable : variables) {
    if (seen.insert(variable.get()).second) entries += variable->size();
  }
  for (const Edge& edge : edges) {
    if (seen.insert(edge.table.get()).second) entries += edge.table->seconds.size();
  }
  return entries * sizeof(double);
}

}  // namespace strata
