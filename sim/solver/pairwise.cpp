#include "sim/solver/pairwise.h"

#include <algorithm>

#include "sim/solver/restriction.h"

namespace strata {

PairwiseModel::PairwiseModel(const CostTables& tables)
    : tables_(merge_parallel_edges(tables)), incident_(tables.variables.size()) {
  first_choice_.push_back(0);
  for (const CostTables::Vector& variable : tables_.variables) {
    first_choice_.push_back(first_choice_.back() + variable->size());
    max_choices_ = std::max(max_choices_, variable->size());
  }
  first_message_.push_back(0);
  for (std::uint32_t e = 0; e < tables_.edges.size(); ++e) {
    const CostTables::Edge& edge = tables_.edges[e];
    incident_[edge.from].push_back({e, edge.to, true});
    incident_[edge.to].push_back({e, edge.from, false});
    first_message_.push_back(first_message_.back() + edge.table->rows + edge.table->columns);
    entries_ += static_cast<double>(edge.table->seconds.size());
  }
}

void PairwiseModel::local_costs(std::uint32_t v, const Choices& strategy,
                                std::vector<double>& costs) const {
  costs = *tables_.variables[v];
  for (const Incidence& incidence : incident_[v]) {
    const CostTable& table = *tables_.edges[incidence.edge].table;
    const std::uint32_t other = strategy[incidence.other];
    const double* entry = incidence.is_from ? table.seconds.data() + other : table.row(other);
    const std::size_t step = incidence.is_from ? table.columns : 1;
    for (double& cost : costs) {
      cost += *entry;
      entry += step;
    }
  }
}

}  // namespace strata
