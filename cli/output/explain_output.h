#pragma once

// What `strata explain` says: of a layer its configs, of a strategy its story.

#include <optional>

#include <nlohmann/json.hpp>

#include "sim/explain/break_even.h"
#include "sim/explain/choices.h"
#include "sim/explain/story.h"

namespace strata {

/// What is said of a layer.
struct ExplainedLayer {
  const Strategy& strategy;
  LayerId layer;
  const Explanation& explanation;
  std::vector<BreakEven> turns = {};  ///< against the best other choice
  bool all_tried = true;              ///< (BreakEvens)
};

nlohmann::ordered_json explained_json(const Case& input, const ExplainedLayer& explained);
/// `all`: every config, not only the best.
std::string explained_text(const Case& input, const ExplainedLayer& explained, bool all);

nlohmann::ordered_json story_json(const Case& input, const Story& story);
std::string story_text(const Case& input, const Story& story);

}  // namespace strata
