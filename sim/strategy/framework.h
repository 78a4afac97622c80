#pragma once

// Frameworks whose way to run a step is known (run_as(), sim/study/case/framework.h). Values.

#include <array>
#include <cstdint>
#include <string_view>

namespace strata {

enum class Framework : std::uint8_t { none, megatron, ddp_2017, fsdp };
inline constexpr std::array<std::string_view, 4> kFrameworkNames = {"none", "megatron", "ddp-2017",
                                                                    "fsdp"};
constexpr std::string_view name(Framework framework) {
  return kFrameworkNames[static_cast<std::size_t>(framework)];
}

}  // namespace strata
