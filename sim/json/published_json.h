#pragma once

// Makes JSON of predictions beside steps that others published. Pure; thread-safe.

#include <span>

#include <nlohmann/json_fwd.hpp>

#include "sim/study/published/published.h"

namespace strata {

nlohmann::ordered_json published_json(std::span<const PublishedResult> results);

}  // namespace strata
