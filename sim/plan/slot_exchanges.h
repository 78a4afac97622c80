#pragma once

// What devices exchange of the slots of experts: by which dispatch, and how much where experts have
// unequally many tokens. Internal to sim/plan.

#include "sim/plan/expansion.h"

namespace strata {

/// What a library does at once for a group, and what goes over which links of it.
struct GroupExchange {
  GroupWork work = GroupWork::all_gather;
  Bytes bytes;
  SentOnce sent = {};
  double moved = 1;  ///< as in Exchange
};

GroupExchange exchange_of(const Expansion& to, const Moves& moves,
                          const ExchangeGroups::Group& group);

/// Of a box that moves pair by pair: its bytes over those that it would have if all experts had
/// equally many tokens.
double moved_load(const Expansion& to, const Moves& moves, const NeededBox& box);

}  // namespace strata
