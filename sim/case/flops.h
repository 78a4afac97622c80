#pragma once

// The arithmetic of a training step, against what the devices could do at their peak: model FLOPs
// utilisation, and that of the hardware, which counts what is computed twice. Pure; thread-safe.

#include <optional>

#include "sim/base/units.h"
#include "sim/case/predict.h"

namespace strata {

struct StepFlops {
  /// Products and attentions forward, and twice as many backward (once in a layer whose input needs
  /// no gradient). Of a causal attention what its queries see.
  Flops model;
  /// As kernels compute them: an attention's backward pass makes its first product again, and
  /// layers of segments their forward pass.
  Flops hardware;
  /// As little of that as kernels may do: convolutions by Winograd's method where it applies.
  Flops least;
};
StepFlops step_flops(const Graph& graph, const KernelTraits& kernels = {},
                     const Segments& segments = {});

struct FlopsUtilisation {
  double model = 0, hardware = 0;  ///< of all devices' peaks in the case's type
  double least = 0;                ///< likewise; Winograd's method is of fp32 alone
  Flops per_device;                ///< the model's a second, of each device on average
};
/// Nothing where a device's profile has no peak of that type.
std::optional<FlopsUtilisation> flops_utilisation(const Case& input, const Strategy& strategy,
                                                  Seconds step);
/// To a result, what of its network has no cost (cost_basis.h); with a step's time its utilisation,
/// and whether that is plausible (plausibility.h).
void add_flops(const Case& input, const Strategy& strategy, CaseResult& result);

}  // namespace strata
