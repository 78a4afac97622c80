#pragma once

// The published transformers, by name: which keys of which family make each of them. Immutable;
// thread-safe. Part of the zoo.

#include <span>
#include <string_view>

#include "sim/graph/zoo.h"

namespace strata {

struct ZooMember {
  ZooEntry entry;
  std::string_view family;
  std::string_view common, sizes;  ///< keys of the family: those of its publication, and its own
};

/// In the order in which they are listed.
std::span<const ZooMember> zoo_members();
/// Null where there is none of this name.
const ZooMember* find_member(std::string_view name);

}  // namespace strata
