#pragma once

// The networks that come with Strata, built layer by layer as their papers (and torchvision, in
// the details) define them, each ending in softmax with cross-entropy. See docs/models.md.

#include <cstdint>
#include <span>
#include <string_view>

#include "sim/graph/graph.h"

namespace strata {

struct ZooEntry {
  std::string_view name;
  std::string_view description;  ///< one line, with the source
};
std::span<const ZooEntry> zoo();

bool in_zoo(std::string_view name);

/// Throws InputError for a name that the zoo lacks; the message lists what it has.
Graph build_zoo(std::string_view name, std::int64_t batch);

}  // namespace strata
