#include "sim/solver/discount.h"

#include <cmath>
#include <cstddef>
#include <map>
#include <memory>

namespace strata {

CostTables discounted(const CostTables& tables, std::span<const std::vector<double>> compute,
                      const Discount& discount) {
  const auto rounded = [&](double seconds) {
    return std::round(seconds / tables.quantum) * tables.quantum;
  };
  CostTables result = tables;
  for (std::size_t v = 0; v < tables.variables.size(); ++v) {
    auto seconds = std::make_shared<std::vector<double>>(*tables.variables[v]);
    for (std::size_t c = 0; c < seconds->size(); ++c) {
      const double computes = compute[v][c];
      if (!std::isfinite((*seconds)[c])) continue;
      (*seconds)[c] = rounded(computes + discount.sync * ((*seconds)[c] - computes));
    }
    result.variables[v] = std::move(seconds);
  }
  std::map<const CostTable*, std::shared_ptr<const CostTable>> made;
  for (CostTables::Edge& edge : result.edges) {
    std::shared_ptr<const CostTable>& table = made[edge.table.get()];
    if (table == nullptr) {
      auto cheaper = std::make_shared<CostTable>(*edge.table);
      for (double& seconds : cheaper->seconds) {
        if (std::isfinite(seconds)) seconds = rounded(discount.transfer * seconds);
      }
      table = std::move(cheaper);
    }
    edge.table = table;
  }
  return result;
}

}  // namespace strata
