#pragma once

// Variables eliminated one after the other, and what is needed to find the choices again: backwards
// through the steps, each variable's best choice is the one that makes the sum of the factors that
// were joined the least, its neighbours' choices being known. Equal joins of equal factors are made
// once: networks repeat their blocks. Not thread-safe.

#include <map>
#include <vector>

#include "sim/solver/elimination.h"
#include "sim/solver/join.h"

namespace strata {

class EliminationRun {
 public:
  struct Step {
    std::uint32_t variable = 0;
    std::vector<Factor> factors;  ///< that were joined
  };

  EliminationRun(const CostTables& tables, const EliminationPlan& plan, const SolveLimits& limits);

  /// Eliminates what the plan says. Throws Cancelled.
  void run();

  /// Throws Cancelled once called off or out of time.
  void check() const { stop_.check(); }

  const std::vector<Step>& steps() const { return steps_; }
  /// The least cost with each choice of `v`, the one variable that was not eliminated.
  std::vector<double> costs(std::uint32_t v) const;
  /// The least cost of what depends on no variable any more.
  double constant() const { return constant_; }

 private:
  void add(Factor factor);
  std::vector<Factor> take(std::uint32_t v);
  Factor eliminate(std::uint32_t v);
  void tell(double operations);

  struct Made {
    std::uint64_t id = 0;
    std::shared_ptr<const double[]> entries;
  };

  const EliminationPlan& plan_;
  const SolveLimits& limits_;
  const Stop stop_;
  std::vector<std::size_t> choices_;
  std::vector<Factor> factors_;                     ///< those taken are empty
  std::vector<std::vector<std::size_t>> mentions_;  ///< by variable: places in factors_
  std::map<std::vector<std::uint64_t>, Made> made_;
  std::uint64_t next_id_ = 0;
  std::vector<Step> steps_;
  double constant_ = 0;
  double operations_ = 0;
  JoinScratch scratch_;
};

}  // namespace strata
