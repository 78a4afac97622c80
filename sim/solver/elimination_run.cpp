#include "sim/solver/elimination_run.h"

#include <algorithm>
#include <utility>

namespace strata {

EliminationRun::EliminationRun(const CostTables& tables, const EliminationPlan& plan,
                               const SolveLimits& limits)
    : plan_(plan), limits_(limits), stop_(limits), mentions_(tables.variables.size()) {
  for (const auto& variable : tables.variables) choices_.push_back(variable->size());
  for (Factor& factor : to_factors(tables)) add(std::move(factor));
  next_id_ = factors_.size();
}

void EliminationRun::add(Factor factor) {
  if (factor.scope.empty()) {
    constant_ += factor.entries[0];
    return;
  }
  for (std::uint32_t v : factor.scope) mentions_[v].push_back(factors_.size());
  factors_.push_back(std::move(factor));
}

std::vector<Factor> EliminationRun::take(std::uint32_t v) {
  std::vector<Factor> taken;
  for (std::size_t place : std::exchange(mentions_[v], {})) {
    for (std::uint32_t other : factors_[place].scope) std::erase(mentions_[other], place);
    taken.push_back(std::exchange(factors_[place], {}));
  }
  return taken;
}

Factor EliminationRun::eliminate(std::uint32_t v) {
  Join join(v, take(v), choices_);
  Factor result = join.shape();
  Made& made = made_[join.key()];
  if (!made.entries) made = {next_id_++, join.make(limits_.threads, stop_, scratch_)};
  result.entries = made.entries;
  result.id = made.id;
  tell(join.operations());
  steps_.push_back({v, std::move(join).take_factors()});
  return result;
}

void EliminationRun::run() {
  for (std::uint32_t v : plan_.order) {
    stop_.check();
    add(eliminate(v));
  }
}

void EliminationRun::tell(double operations) {
  operations_ += operations;
  if (limits_.progress) {
    limits_.progress({.stage = "elimination", .done = operations_ / plan_.operations});
  }
}

std::vector<double> EliminationRun::costs(std::uint32_t v) const {
  std::vector<double> costs(choices_[v], constant_);
  for (std::size_t place : mentions_[v]) {
    for (std::size_t x = 0; x < costs.size(); ++x) {
      costs[x] += factors_[place].entries[x * factors_[place].strides[0]];
    }
  }
  return costs;
}

}  // namespace strata
