#pragma once

// Frameworks whose way to run a step is known (run_as(), sim/study/case/framework.h). Values.

#include <array>
#include <cstdint>
#include <string_view>

namespace strata {

enum class Framework : std::uint8_t { none, megatron };
inline constexpr std::array<std::string_view, 2> kFrameworkNames = {"none", "megatron"};
constexpr std::string_view name(Framework framework) {
  return kFrameworkNames[static_cast<std::size_t>(framework)];
}

}  // namespace strata
