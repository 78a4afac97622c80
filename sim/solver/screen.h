#pragma once

// Exact cost tables of the choices that matter alone. On many devices a table of t_X takes time: it
// asks for the busiest of all links. Tables that look at some of the links (never more than the
// exact ones) bound every choice from below; what costs more than a strategy that is known needs no
// exact table. The optimum is never lost.

#include <functional>
#include <span>

#include "sim/solver/restriction.h"
#include "sim/solver/solution.h"
#include "sim/strategy/search_space.h"

namespace strata {

/// Builds the tables of a space in this detail or a finer one.
using BuildTables = std::function<CostTables(const SearchSpace& space, TableDetail detail)>;

struct Screened {
  SearchSpace space;  ///< what is left; it holds every strategy within the slack of the least cost
  CostTables tables;  ///< of that space, exact
  std::vector<Choices> kept;  ///< by variable: its choices' numbers in the whole space

  Choices original(const Choices& choices) const { return renamed(kept, choices); }
  /// Choices of the whole space, told in what is left; empty where one was dropped.
  Choices restricted(const Choices& original) const { return renamed_back(kept, original); }
};

/// What a screening has shown so far, for one who calls it off.
struct ScreenProof {
  Choices best;  ///< of the whole space; empty where none is known yet
  double seconds = kInfinity;
  double lower_bound = 0;  ///< on every strategy of the whole space
};

/// `known`: strategies of the space, the better the more is dropped. `slack`: what is left holds
/// every strategy that costs at most so much more than the least cost, relative to it. Throws
/// Cancelled when called off or out of time.
Screened screen(const SearchSpace& space, std::span<const Choices> known, const BuildTables& build,
                const SolveLimits& limits = {}, ScreenProof* proof = nullptr, double slack = 0);

}  // namespace strata
