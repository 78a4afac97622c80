#pragma once

// The moves of a local search from a strategy to others: what changes at once, and in what order
// they are worth a look. Tables rank them: the moves that cost least come first. Thread-safe to
// use.

#include <atomic>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/solver/solution.h"

namespace strata {

/// By variable and choice: choices of one kind are the same cut, of whatever variable.
using ChoiceKinds = std::vector<std::vector<std::uint32_t>>;

/// A variable takes another choice.
struct Change {
  std::uint32_t variable = 0, choice = 0;
  auto operator<=>(const Change&) const = default;
};

/// Some do, in ascending order; `cost` is what that costs under the tables.
struct Move {
  double cost = 0;
  std::vector<Change> changes;
  auto operator<=>(const Move&) const = default;
};

class Neighbourhood {
 public:
  /// All must outlive this. `others`: strategies whose stretches are worth taking over.
  Neighbourhood(const CostTables& tables, const ChoiceKinds& kinds,
                std::span<const Choices> others);

  /// One variable takes another choice, alone or with those around it that then choose otherwise; a
  /// few neighbours, or a run of equal ones, take the same cut; a stretch is as in another
  /// strategy. Of very many the cheapest. `threads`: 0: all cores; the moves do not depend on it.
  /// Throws Cancelled once it is called off.
  std::vector<Move> moves(const Choices& at, unsigned threads = 1,
                          const std::atomic<bool>* cancelled = nullptr) const;
  /// Any two variables of a small problem, or two that an edge joins, take other choices: the
  /// cheapest of these.
  std::vector<Move> pairs(const Choices& at, const std::atomic<bool>* cancelled = nullptr) const;

 private:
  double cost_of(const Choices& at, std::uint32_t variable, std::uint32_t choice) const;
  double cost_of(Choices at, std::span<const Change> changes) const;
  std::uint32_t kind(const Choices& at, std::uint32_t v) const { return kinds_[v][at[v]]; }
  std::uint32_t end_of_run(const Choices& at, std::uint32_t v) const;
  std::uint32_t best_response(const Choices& at, std::uint32_t v) const;
  bool makes_pairs(std::uint32_t u, std::uint32_t v) const;
  void add(const Choices& at, std::uint32_t first, std::span<const std::uint32_t> others,
           std::vector<Move>& moves) const;
  void add_stretch(const Choices& at, std::uint32_t first, std::uint32_t last, std::uint32_t all_of,
                   std::vector<Move>& moves) const;
  void add_choices(const Choices& at, std::uint32_t v, std::vector<Move>& moves) const;
  void add_responses(const Choices& at, std::uint32_t v, std::vector<Move>& moves,
                     const std::atomic<bool>* cancelled) const;
  void add_stretches(const Choices& at, std::span<const std::uint32_t> other,
                     std::vector<Move>& moves) const;
  void add_pairs(const Choices& at, std::uint32_t u, std::uint32_t v,
                 std::vector<Move>& moves) const;

  const CostTables& tables_;
  const ChoiceKinds& kinds_;
  const std::span<const Choices> others_;
  std::vector<std::vector<std::uint32_t>> edges_;                            ///< by variable
  std::vector<std::unordered_map<std::uint32_t, std::uint32_t>> choice_of_;  ///< by variable, kind
};

}  // namespace strata
