#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace strata {

/// The name of an op that is called by its rank, 1 to 3; of any other rank, which is refused, that
/// of 2.
constexpr std::string_view ranked_name(const std::array<std::string_view, 3>& names, int rank) {
  return names[static_cast<std::size_t>(rank < 1 || rank > 3 ? 1 : rank - 1)];
}

}  // namespace strata
