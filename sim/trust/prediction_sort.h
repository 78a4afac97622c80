#pragma once

// Which predictions are of one sort, so that the error of one says something of another. Pure;
// thread-safe.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/case/predict.h"

namespace strata {

/// Of networks whose time lies in the same sort of kernels.
enum class NetworkFamily : std::uint8_t { transformer, mixture, convolutional, other };
inline constexpr std::array<std::string_view, 4> kNetworkFamilyNames = {"transformer", "mixture",
                                                                        "convolutional", "other"};

/// What predictions must have in common for the error of one to say something of another.
struct PredictionSort {
  std::string kind;  ///< of all devices; empty where they differ
  NetworkFamily family = NetworkFamily::other;
  std::string framework = std::string(kNoFramework);
  std::string dtype;  ///< "16 bit" for both types of that size
  auto operator<=>(const PredictionSort&) const = default;
};
PredictionSort sort_of(const Case& input);

}  // namespace strata
