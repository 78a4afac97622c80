#pragma once

// Makes JSON of why a step takes its time, and of what the other cuts of a layer would cost. Pure;
// thread-safe.

#include <nlohmann/json_fwd.hpp>

#include "sim/ask/ask.h"
#include "sim/explain/story.h"

namespace strata {

nlohmann::ordered_json explained_json(const Case& input, const ExplainedLayer& explained);

nlohmann::ordered_json story_json(const Case& input, const Story& story);

}  // namespace strata
