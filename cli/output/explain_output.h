#pragma once

// What `strata explain` says: of a layer its configs, of a strategy its story.

#include <string>

#include "sim/ask/ask.h"

namespace strata {

/// `all`: every config, not only the best.
std::string explained_text(const Case& input, const ExplainedLayer& explained, bool all);

std::string story_text(const Case& input, const Story& story);

}  // namespace strata
