#include "sim/graph/op.h"

#include <array>
#include <cstddef>

namespace strata {
namespace {

using Ranked = std::array<std::string_view, 3>;
constexpr Ranked kConvolutions = {"conv1d", "conv2d", "conv3d"};
constexpr Ranked kMaxPools = {"max_pool1d", "max_pool2d", "max_pool3d"};
constexpr Ranked kAveragePools = {"avg_pool1d", "avg_pool2d", "avg_pool3d"};
constexpr Ranked kAdaptiveMaxPools = {"adaptive_max_pool1d", "adaptive_max_pool2d",
                                      "adaptive_max_pool3d"};
constexpr Ranked kAdaptiveAveragePools = {"adaptive_avg_pool1d", "adaptive_avg_pool2d",
                                          "adaptive_avg_pool3d"};
constexpr std::array<std::string_view, kActivationKinds> kActivations = {
    "relu", "relu6", "leaky_relu", "elu",        "sigmoid",
    "tanh", "silu",  "gelu",       "hard_swish", "hard_sigmoid"};

std::string_view of_rank(const Ranked& names, int rank) {
  return names[static_cast<std::size_t>(rank < 1 || rank > 3 ? 1 : rank - 1)];
}

struct Namer {
  std::string_view operator()(const Input&) const { return "input"; }
  std::string_view operator()(const Convolution& op) const {
    return of_rank(kConvolutions, op.rank);
  }
  std::string_view operator()(const Pooling& op) const {
    return of_rank(op.mode == PoolMode::max ? kMaxPools : kAveragePools, op.rank);
  }
  std::string_view operator()(const AdaptivePooling& op) const {
    return of_rank(op.mode == PoolMode::max ? kAdaptiveMaxPools : kAdaptiveAveragePools, op.rank);
  }
  std::string_view operator()(const FullyConnected&) const { return "fc"; }
  std::string_view operator()(const Activation& op) const {
    return kActivations[static_cast<std::size_t>(op.kind)];
  }
  std::string_view operator()(const BatchNorm&) const { return "batch_norm"; }
  std::string_view operator()(const LocalResponseNorm&) const { return "lrn"; }
  std::string_view operator()(const Dropout&) const { return "dropout"; }
  std::string_view operator()(const Concat&) const { return "concat"; }
  std::string_view operator()(const Add&) const { return "add"; }
  std::string_view operator()(const Multiply&) const { return "multiply"; }
  std::string_view operator()(const Flatten&) const { return "flatten"; }
  std::string_view operator()(const SoftmaxCrossEntropy&) const { return "softmax_cross_entropy"; }
  std::string_view operator()(const Opaque&) const { return "opaque"; }
};

template <class... Ops>
bool is_one_of(const Op& op) {
  return (std::holds_alternative<Ops>(op) || ...);
}

}  // namespace

std::string_view name(const Op& op) {
  return std::visit(Namer{}, op);
}

std::string title(const Op& op) {
  const auto* opaque = std::get_if<Opaque>(&op);
  return opaque ? "opaque (" + opaque->kind + ")" : std::string(name(op));
}

bool gradient_from_output(const Activation& activation) {
  return activation.kind != ActivationKind::silu && activation.kind != ActivationKind::gelu &&
         activation.kind != ActivationKind::hard_swish;
}

bool backward_reads_input(const Op& op) {
  if (const auto* activation = std::get_if<Activation>(&op))
    return !gradient_from_output(*activation);
  return is_one_of<Convolution, FullyConnected, BatchNorm, LocalResponseNorm, Pooling,
                   AdaptivePooling, Multiply, Opaque>(op);
}

bool backward_reads_output(const Op& op) {
  if (const auto* activation = std::get_if<Activation>(&op))
    return gradient_from_output(*activation);
  return is_one_of<LocalResponseNorm, Pooling, SoftmaxCrossEntropy>(op);
}

bool is_elementwise(const Op& op) {
  return std::holds_alternative<Activation>(op) || std::holds_alternative<Dropout>(op);
}

}  // namespace strata
