#pragma once

// Which known names a misspelt one may stand for. Pure; thread-safe.

#include <span>
#include <string_view>
#include <vector>

namespace strata {

/// The known names of which `name` is at most a third of its letters away, and one of a short name:
/// letters that are others, missing or too many. The nearest first, of equals those that begin
/// alike, then in the order given; at most three.
std::vector<std::string_view> near_names(std::string_view name,
                                         std::span<const std::string_view> known);

}  // namespace strata
