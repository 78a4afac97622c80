#pragma once

// Strategies that a search scores without tables, before all else: the usual ones, those that
// tensor parallelism gives, and those by rule (outsiders.h). A search that is stopped has these to
// show.

#include <atomic>
#include <functional>
#include <string_view>
#include <vector>

#include "sim/search/score.h"
#include "sim/search/solve.h"

namespace strata {

class TriedStrategies {
 public:
  using Flag = const std::atomic<bool>*;

  /// All must outlive this.
  TriedStrategies(const Case& input, const SolveOptions& options, Scores& scores)
      : input_(input), options_(options), scores_(scores) {}

  /// All of these, simulated as far as `cancelled` allows.
  void add(const std::vector<Strategy>& strategies, Flag cancelled);
  /// Of these the ones that fit, for the memory that they save. Throws Cancelled.
  void add_fitting(std::vector<Strategy> strategies, Flag cancelled);
  /// Of strategies that no search considers those that fit: in rounds, since stages shorten the
  /// step then; and as long as none of all that was found fits, since they need less memory. Throws
  /// Cancelled.
  void add_outsiders(Flag cancelled);
  /// Gives each its time under Eq. 1, as far as `cancelled` allows.
  void add_eq1(Flag cancelled);
  /// The same of one strategy, tried here or not.
  void add_eq1(Scored& scored, Flag cancelled);

  const std::vector<Scored>& all() const { return all_; }
  std::vector<Scored>& all() { return all_; }

 private:
  bool any_fits() const;
  std::vector<Scored> simulated(const std::vector<Strategy>& strategies, Flag cancelled);
  void simulate(Scored& scored, Flag cancelled);

  const Case& input_;
  const SolveOptions& options_;
  Scores& scores_;
  std::vector<Scored> all_;
};

}  // namespace strata
