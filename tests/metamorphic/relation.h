#pragma once

// Relations that hold of every case: a fault in any reader of a step breaks one of them, though
// nobody knows the right answer to the case itself.

#include <span>
#include <string_view>

#include "tests/metamorphic/trial.h"

namespace strata::testing {

struct Relation {
  std::string_view name;
  void (*check)(Trial&) = nullptr;
  std::uint64_t one_in = 1;     ///< cases: dear ones are held to a few
  bool may_be_refused = false;  ///< the changed case may be one that Strata refuses
};

// By what they compare. Each list is in a file of its own.
std::span<const Relation> account_relations();   ///< the parts of one answer, with one another
std::span<const Relation> asking_relations();    ///< one question, asked in several ways
std::span<const Relation> machine_relations();   ///< the same on another machine
std::span<const Relation> training_relations();  ///< the same trained otherwise
std::span<const Relation> search_relations();    ///< a strategy, with those that a search knows

/// All of them.
std::vector<Relation> relations();

}  // namespace strata::testing
