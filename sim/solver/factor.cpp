#include "sim/solver/factor.h"

#include <algorithm>
#include <map>

namespace strata {

bool Factor::mentions(std::uint32_t v) const {
  return std::find(scope.begin(), scope.end(), v) != scope.end();
}

std::size_t Factor::stride(std::uint32_t v) const {
  const auto at = std::find(scope.begin(), scope.end(), v);
  return at == scope.end() ? 0 : strides[static_cast<std::size_t>(at - scope.begin())];
}

std::size_t Factor::offset(const Choices& choices) const {
  std::size_t offset = 0;
  for (std::size_t i = 0; i < scope.size(); ++i) offset += choices[scope[i]] * strides[i];
  return offset;
}

std::vector<Factor> to_factors(const CostTables& tables) {
  std::vector<Factor> factors;
  std::map<const void*, std::uint64_t> ids;
  const auto id = [&](const void* entries) {
    return ids.try_emplace(entries, ids.size()).first->second;
  };
  const auto share = [](const auto& owner, const std::vector<double>& entries) {
    return std::shared_ptr<const double[]>(owner, entries.data());
  };
  for (std::uint32_t v = 0; v < tables.variables.size(); ++v) {
    const auto& seconds = tables.variables[v];
    factors.push_back({{v}, {1}, share(seconds, *seconds), id(seconds.get())});
  }
  for (const CostTables::Edge& edge : tables.edges) {
    Factor factor{{edge.from, edge.to},
                  {edge.table->columns, 1},
                  share(edge.table, edge.table->seconds),
                  id(edge.table.get())};
    if (edge.from > edge.to) {
      std::swap(factor.scope[0], factor.scope[1]);
      std::swap(factor.strides[0], factor.strides[1]);
    }
    factors.push_back(std::move(factor));
  }
  return factors;
}

void sum_costs(std::span<const Factor> factors, std::uint32_t v, Choices choices,
               std::vector<double>& costs) {
  choices[v] = 0;
  std::fill(costs.begin(), costs.end(), 0.0);
  for (const Factor& factor : factors) {
    const double* entry = factor.entries.get() + factor.offset(choices);
    const std::size_t stride = factor.stride(v);
    for (std::size_t x = 0; x < costs.size(); ++x) costs[x] += entry[x * stride];
  }
}

}  // namespace strata
