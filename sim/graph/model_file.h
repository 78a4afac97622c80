#pragma once

// A user's own network as TOML: docs/models.md is the reference of the format. Every op of op.h
// can be written, and a Graph written by print_model reads back equal.

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/graph/graph.h"

namespace strata {

/// Throws InputError "FILE:LINE: layer NAME: ..." with a line for each of the first ten errors.
Graph parse_model(std::string_view toml, const std::string& file, std::int64_t batch);
Graph read_model(const std::string& file, std::int64_t batch);

std::string print_model(const Graph& graph);

}  // namespace strata
