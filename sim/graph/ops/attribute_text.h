#pragma once

// What pages add to their ops' names in the keys of measured costs: " kernel=1x3x3 groups=1". Pure;
// thread-safe.

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/graph/ops/window.h"

namespace strata {

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
