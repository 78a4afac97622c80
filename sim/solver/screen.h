#pragma once

// Exact cost tables of the choices that matter alone. On many devices a table of t_X takes time: it
// asks for the busiest of all links. Tables that look at some of the links (never more than the
// exact ones) bound every choice from below; what costs more than a strategy that is known needs no
// exact table. The optimum is never lost.

#include <functional>
#include <span>

#include "sim/solver/solution.h"
#include "sim/strategy/search_space.h"

namespace strata {

/// Builds the tables of a space in this detail or a finer one.
using BuildTables = std::function<CostTables(const SearchSpace& space, TableDetail detail)>;

struct Screened {
  SearchSpace space;          ///< what is left; it holds every strategy of least cost
  CostTables tables;          ///< of that space, exact
  std::vector<Choices> kept;  ///< by variable: its choices' numbers in the whole space

  Choices original(const Choices& choices) const;
  /// Choices of the whole space, told in what is left; empty where one was dropped.
  Choices restricted(const Choices& original) const;
};

/// `known`: strategies of the space, the better the more is dropped. Throws Cancelled.
Screened screen(const SearchSpace& space, std::span<const Choices> known, const BuildTables& build,
                const SolveLimits& limits = {});

}  // namespace strata
