#pragma once

// Ops' names, and what pages add to them in the keys of measured costs: " kernel=1x3x3 groups=1".
// Pure; thread-safe.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/graph/ops/window.h"

namespace strata {

/// The name of an op that is called by its rank, 1 to 3; of any other rank, which is refused, that
/// of 2.
constexpr std::string_view ranked_name(const std::array<std::string_view, 3>& names, int rank) {
  return names[static_cast<std::size_t>(rank < 1 || rank > 3 ? 1 : rank - 1)];
}

/// " key=value".
inline std::string attribute_text(std::string_view key, std::int64_t value) {
  return std::string(" ").append(key).append("=").append(std::to_string(value));
}

/// " key=DxHxW", of a member of each dim's window.
inline std::string attribute_text(std::string_view key, const Windows& windows,
                                  std::int64_t Window::*member) {
  return std::string(" ").append(key).append("=").append(std::to_string(windows.d.*member)) + "x" +
         std::to_string(windows.h.*member) + "x" + std::to_string(windows.w.*member);
}

}  // namespace strata
