#pragma once

// The element type of a run, and the parts of a layer's work that are costed, measured and run
// each on its own.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace strata {

/// Types from fp8 on are of products alone: what a product reads is cast to them, and all else
/// stays in bf16.
enum class DType : std::uint8_t {
  fp32,
  tf32,
  bf16,
  fp16,
  fp8,        ///< with one scale for a tensor
  fp8_block,  ///< with a scale for each 1 x 128 of what layers read, 128 x 128 of weights
  mxfp8,      ///< with a scale, a power of two, for each 32 elements
  nvfp4       ///< four bits, with a scale of eight for each 16 elements
};
inline constexpr std::array<std::string_view, 8> kDTypeNames = {
    "fp32", "tf32", "bf16", "fp16", "fp8", "fp8-block", "mxfp8", "nvfp4"};
constexpr std::string_view name(DType dtype) {
  return kDTypeNames[static_cast<std::size_t>(dtype)];
}
constexpr std::optional<DType> parse_dtype(std::string_view text) {
  for (std::size_t i = 0; i < kDTypeNames.size(); ++i) {
    if (kDTypeNames[i] == text) return static_cast<DType>(i);
  }
  return std::nullopt;
}
/// Whether products alone are in the type.
constexpr bool is_of_products(DType dtype) {
  return dtype >= DType::fp8;
}
/// What tensors lie in where products are in the type.
constexpr DType stored(DType dtype) {
  return is_of_products(dtype) ? DType::bf16 : dtype;
}
/// Bytes of one element of an activation, parameter or gradient of this type.
constexpr std::int64_t element_bytes(DType dtype) {
  return dtype == DType::fp32 || dtype == DType::tf32 ? 4 : 2;
}

/// The types of a training step: of activations and what computes with them, of parameters, and of
/// their gradients, which mixed precision may keep in fp32.
struct DTypes {
  DType values = DType::fp32;  ///< stored() in memory
  DType parameters = DType::fp32;
  DType gradients = DType::fp32;

  constexpr DTypes() = default;
  constexpr DTypes(DType all) : values(all), parameters(stored(all)), gradients(stored(all)) {}
  constexpr DTypes(DType of_values, DType of_parameters)
      : values(of_values), parameters(of_parameters), gradients(of_parameters) {}
  bool operator==(const DTypes&) const = default;
};
/// What gradients of parameters may be kept in.
enum class GradientType : std::uint8_t { fp32, bf16 };
inline constexpr std::array<std::string_view, 2> kGradientTypeNames = {"fp32", "bf16"};
constexpr DType dtype_of(GradientType type) {
  return type == GradientType::fp32 ? DType::fp32 : DType::bf16;
}

/// As executors train, whatever they compute in.
constexpr DTypes fp32_parameters(DType values) {
  return {values, DType::fp32};
}

enum class Phase : std::uint8_t {
  forward_statistics,  ///< a norm's sums, a softmax's row maxima: before a group's exchange
  forward,
  backward_statistics,
  backward_data,     ///< the gradient of the inputs
  backward_weights,  ///< the gradient of the parameters
  update,            ///< the optimizer's
  // Of no op, and costed as moves: what others made is added up.
  forward_sum,  ///< the outputs of a cut reduction's shards
  backward_sum  ///< the gradients of such an output, before all these shards get it, or those of
                ///< one input that several layers read, before they go back to another stage
};
inline constexpr int kPhaseCount = 8;
/// The first of them, which kernels of the ops do.
inline constexpr int kKernelPhases = 6;
inline constexpr std::array<std::string_view, kPhaseCount> kPhaseNames = {
    "forward_statistics", "forward", "backward_statistics", "backward_data",
    "backward_weights",   "update",  "forward_sum",         "backward_sum"};
constexpr std::string_view name(Phase phase) {
  return kPhaseNames[static_cast<std::size_t>(phase)];
}

/// Whether the phase has no kernel of the op.
constexpr bool is_sum(Phase phase) {
  return static_cast<int>(phase) >= kKernelPhases;
}

}  // namespace strata
