// Algorithm 1 of the paper on the graph alone. Edges point from the lower number to the higher, as
// layers are numbered: a node goes when one edge comes in and one goes out, edges in parallel are
// one (sets hold them once). Neither step takes away another's chance, so the order is free.

#include <algorithm>
#include <set>

#include "sim/solver/elimination.h"

namespace strata {
namespace {

struct Node {
  std::set<std::uint32_t> before, after;
  bool reducible() const { return before.size() == 1 && after.size() == 1; }
};

std::vector<Node> directed_graph(const CostTables& tables) {
  std::vector<Node> nodes(tables.variables.size());
  for (const CostTables::Edge& edge : tables.edges) {
    nodes[std::min(edge.from, edge.to)].after.insert(std::max(edge.from, edge.to));
    nodes[std::max(edge.from, edge.to)].before.insert(std::min(edge.from, edge.to));
  }
  return nodes;
}

}  // namespace

std::size_t final_nodes(const CostTables& tables) {
  std::vector<Node> nodes = directed_graph(tables);
  std::vector<std::uint32_t> waiting(nodes.size());
  for (std::uint32_t v = 0; v < waiting.size(); ++v) waiting[v] = v;
  std::size_t left = nodes.size();
  while (!waiting.empty()) {
    const std::uint32_t v = waiting.back();
    waiting.pop_back();
    if (!nodes[v].reducible()) continue;
    const std::uint32_t before = *nodes[v].before.begin(), after = *nodes[v].after.begin();
    nodes[v] = {};
    --left;
    nodes[before].after.erase(v);
    nodes[after].before.erase(v);
    nodes[before].after.insert(after);
    nodes[after].before.insert(before);
    waiting.insert(waiting.end(), {before, after});
  }
  return left;
}

}  // namespace strata
