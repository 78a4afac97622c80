// Orders of elimination, and what they take.

#include <algorithm>
#include <tuple>

#include "sim/solver/elimination.h"
#include "sim/solver/interaction_graph.h"

namespace strata {
namespace {

void append(EliminationPlan& plan, InteractionGraph& graph, std::uint32_t v) {
  const double entries = graph.table_entries(v);
  plan.order.push_back(v);
  plan.width = std::max(plan.width, graph.neighbours(v).size());
  plan.operations += entries * graph.choices(v);
  plan.table_bytes += entries * sizeof(double);
  graph.eliminate(v);
}

// The greedy choice. Of equals, what lies on the fewest eliminations below it goes first: in a
// network of equal blocks that makes equal products of equal tables, which are then made once, and
// a chain of n blocks takes log n products. Costs are kept until a neighbour changes.
class GreedyOrder {
 public:
  GreedyOrder(const CostTables& tables, std::optional<std::uint32_t> keep)
      : graph_(tables), depth_(graph_.size(), 0), entries_(graph_.size()), fill_in_(graph_.size()) {
    for (std::uint32_t v = 0; v < graph_.size(); ++v) {
      entries_[v] = graph_.table_entries(v);
      if (v != keep) left_.push_back(v);
    }
  }

  EliminationPlan plan() {
    EliminationPlan plan;
    while (!left_.empty()) {
      const std::uint32_t v = best();
      std::erase(left_, v);
      const std::vector<std::uint32_t> neighbours = graph_.neighbours(v);
      append(plan, graph_, v);
      for (std::uint32_t other : neighbours) touch(other, depth_[v] + 1);
    }
    return plan;
  }

 private:
  std::uint32_t best() {
    const auto fewer = [&](std::uint32_t a, std::uint32_t b) { return entries_[a] < entries_[b]; };
    const double fewest = entries_[*std::min_element(left_.begin(), left_.end(), fewer)];
    std::optional<std::tuple<std::size_t, std::size_t, std::uint32_t>> best;
    for (std::uint32_t v : left_) {
      if (entries_[v] > fewest) continue;
      if (!fill_in_[v]) fill_in_[v] = graph_.fill_in(v);
      const std::tuple cost(*fill_in_[v], depth_[v], v);
      if (!best || cost < *best) best = cost;
    }
    return std::get<2>(*best);
  }

  // Neighbours of a neighbour may meet now that did not before.
  void touch(std::uint32_t v, std::size_t depth) {
    depth_[v] = std::max(depth_[v], depth);
    entries_[v] = graph_.table_entries(v);
    fill_in_[v].reset();
    for (std::uint32_t other : graph_.neighbours(v)) fill_in_[other].reset();
  }

  InteractionGraph graph_;
  std::vector<std::uint32_t> left_;  ///< ascending
  std::vector<std::size_t> depth_;
  std::vector<double> entries_;
  std::vector<std::optional<std::size_t>> fill_in_;
};

}  // namespace

EliminationPlan plan_elimination(const CostTables& tables, std::optional<std::uint32_t> keep) {
  return GreedyOrder(tables, keep).plan();
}

EliminationPlan plan_elimination(const CostTables& tables,
                                 const std::vector<std::uint32_t>& order) {
  InteractionGraph graph(tables);
  EliminationPlan plan;
  for (std::uint32_t v : order) append(plan, graph, v);
  return plan;
}

}  // namespace strata
