#pragma once

// How far the step of a scene may be trusted, in the words of the command line: what is wrong with
// it, what its compute time rests on, and how far off published steps of its sort were. Pure.

#include <string>
#include <vector>

#include "sim/ask/ask.h"
#include "sim/search/score.h"

namespace strata::gui {

struct Trust {
  std::string brief;                  ///< "83 % measured, error 8.1 %"
  std::vector<std::string> warnings;  ///< sentences without a full stop; none where all is well
  std::vector<std::string> facts;     ///< likewise
  bool operator==(const Trust&) const = default;
};

/// Of the answer to a prediction of one strategy.
Trust trust_of(const Answer& answer);
/// Of a strategy that a search scored, whose costs are not known by their sources.
Trust trust_of(const CaseRequest& request, const Case& input, const Scored& scored);

/// Warnings, then facts, with a blank line between two.
std::string text_of(const Trust& trust);

}  // namespace strata::gui
