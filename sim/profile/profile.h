#pragma once

// What is known of one kind of device: its constants, the efficiency model that turns them into
// times, and measured costs of layer shards. Every figure says where it comes from. Text in
// profiles/*.toml (docs/profiles.md is the reference of the format). Immutable; thread-safe.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.h"

namespace strata {

enum class DType : std::uint8_t { fp32, tf32, bf16, fp16 };
std::string_view name(DType dtype);
std::optional<DType> parse_dtype(std::string_view text);
/// Bytes of one element of an activation, parameter or gradient.
constexpr std::int64_t element_bytes(DType dtype) {
  return dtype == DType::fp32 || dtype == DType::tf32 ? 4 : 2;
}

/// The parts of a layer's work that are costed, measured and run each on its own.
enum class Phase : std::uint8_t {
  forward_statistics,   ///< batch norm's sums, softmax's maxima: before a group's exchange
  forward,
  backward_statistics,
  backward_data,        ///< the gradient of the inputs
  backward_weights,     ///< the gradient of the parameters
  update                ///< plain SGD
};
inline constexpr int kPhaseCount = 6;
std::string_view name(Phase phase);

}  // namespace strata
