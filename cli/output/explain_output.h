#pragma once

// What `strata explain` says: of a layer its configs, of a strategy its story.

#include <nlohmann/json.hpp>

#include "sim/ask/ask.h"

namespace strata {

nlohmann::ordered_json explained_json(const Case& input, const ExplainedLayer& explained);
/// `all`: every config, not only the best.
std::string explained_text(const Case& input, const ExplainedLayer& explained, bool all);

nlohmann::ordered_json story_json(const Case& input, const Story& story);
std::string story_text(const Case& input, const Story& story);

}  // namespace strata
