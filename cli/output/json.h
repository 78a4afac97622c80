#pragma once

// Prints JSON, which sim/json makes.

#include <nlohmann/json.hpp>

namespace strata {

/// Prints one JSON document, indented, with a final newline.
void print_json(const nlohmann::ordered_json& document);

}  // namespace strata
