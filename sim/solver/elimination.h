#pragma once

// Variable elimination: min over all strategies of a sum of tables, one variable at a time. To
// eliminate v, all tables that mention v are replaced by one over v's neighbours, the minimum over
// v of their sum. With one neighbour on each side that is the paper's node elimination (Eq. 2),
// tables over the same two variables simply add up (its edge elimination, Eq. 3): Algorithm 1 is
// the special case in which only these two are allowed. On any graph the result is exact; the cost
// is exponential in the width of the order, so plan_elimination() says beforehand what it takes.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/solver/solution.h"

namespace strata {

/// An order of elimination, and what it takes.
struct EliminationPlan {
  std::vector<std::uint32_t> order;  ///< every variable once (but one that is kept)
  std::size_t width = 0;             ///< the most neighbours a variable has when it goes
  double operations = 0;             ///< additions with minimum, over all
  double table_bytes = 0;            ///< of all tables made
};

/// Greedy by the size of the table made, then by fill-in, then by how many eliminations its tables
/// rest on (so that equal blocks give equal tables, made once), then by number; `keep` stays.
EliminationPlan plan_elimination(const CostTables& tables,
                                 std::optional<std::uint32_t> keep = std::nullopt);
/// What this order takes, were no table made once for several equal ones.
EliminationPlan plan_elimination(const CostTables& tables, const std::vector<std::uint32_t>& order);

/// The optimum; nothing is found where all strategies cost infinitely much. Ties go to the least
/// choice of the variable eliminated last, then of the last but one, and so on. Precondition: the
/// plan is over all variables and its tables fit `limits.table_bytes`. Throws Cancelled when called
/// off or out of time: half an elimination proves nothing.
Solution eliminate(const CostTables& tables, const EliminationPlan& plan,
                   const SolveLimits& limits = {});

/// The `count` best choices of finite cost, all different; fewer if there are no more. By cost, and
/// of equal ones lexicographically by the choices of the plan's variables from the last to the
/// first: the first is eliminate()'s. Each one's lower bound is the optimum.
std::vector<Solution> k_best(const CostTables& tables, const EliminationPlan& plan,
                             std::size_t count, const SolveLimits& limits = {});

/// For every choice of `variable`, the least cost of a strategy that makes it. Throws Cancelled.
std::vector<double> min_marginals(const CostTables& tables, std::uint32_t variable,
                                  const SolveLimits& limits = {});

/// How many nodes are left when only the paper's node and edge eliminations are made on the graph
/// of the variables: its K.
std::size_t final_nodes(const CostTables& tables);

}  // namespace strata
