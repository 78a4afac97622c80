#include "sim/solver/interaction_graph.h"

#include <algorithm>

namespace strata {

InteractionGraph::InteractionGraph(const CostTables& tables)
    : neighbours_(tables.variables.size()),
      meet_(tables.variables.size() * tables.variables.size(), 0) {
  for (const auto& variable : tables.variables) {
    choices_.push_back(static_cast<double>(variable->size()));
  }
  for (const CostTables::Edge& edge : tables.edges) join(edge.from, edge.to);
}

void InteractionGraph::join(std::uint32_t a, std::uint32_t b) {
  if (meet(a, b)) return;
  const auto add = [&](std::uint32_t v, std::uint32_t other) {
    auto& list = neighbours_[v];
    list.insert(std::lower_bound(list.begin(), list.end(), other), other);
    meet_[v * size() + other] = 1;
  };
  add(a, b);
  add(b, a);
}

double InteractionGraph::table_entries(std::uint32_t v) const {
  double entries = 1;
  for (std::uint32_t other : neighbours_[v]) entries *= choices_[other];
  return entries;
}

std::size_t InteractionGraph::fill_in(std::uint32_t v) const {
  const auto& list = neighbours_[v];
  std::size_t missing = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    for (std::size_t j = i + 1; j < list.size(); ++j) missing += !meet(list[i], list[j]);
  }
  return missing;
}

void InteractionGraph::eliminate(std::uint32_t v) {
  const std::vector<std::uint32_t> list = std::move(neighbours_[v]);
  neighbours_[v].clear();
  for (std::uint32_t other : list) {
    std::erase(neighbours_[other], v);
    meet_[v * size() + other] = meet_[other * size() + v] = 0;
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    for (std::size_t j = i + 1; j < list.size(); ++j) join(list[i], list[j]);
  }
}

}  // namespace strata
