#pragma once

// The table of zoo_members.h as it is written down: publications, and the networks of each. Sizes
// are those of the published configurations; `seq` is how long the sequences of the pre-training
// mostly were. Part of the zoo.

#include <string_view>
#include <vector>

namespace strata {

struct MemberRow {
  std::string_view name;
  std::string_view what;  ///< title, parameters, tokens or image
  std::string_view sizes;
};

/// Networks of one publication.
struct Publication {
  std::string_view source;
  std::string_view family;
  std::string_view common;  ///< keys that all of them have, where their own do not say otherwise
  std::vector<MemberRow> rows;
};

const std::vector<Publication>& publications();

}  // namespace strata
