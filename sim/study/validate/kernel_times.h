#pragma once

// What a step takes on each layer, forwards and backwards: as predicted, and as the kernels of a
// trace of PyTorch's profiler have it (sim/importers/trace/kernel_layers.h). GPU k of the trace is
// the k-th device. Pure; thread-safe.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/case/predict.h"
#include "sim/importers/trace/kernel_layers.h"

namespace strata {

struct LayerPass {
  DeviceId device;
  LayerId layer;
  KernelPass pass = KernelPass::forward;
  auto operator<=>(const LayerPass&) const = default;
};
struct PassTime {
  Seconds seconds;
  std::size_t parts = 0;  ///< kernels, or tasks
  TaskId first;           ///< of a prediction
};
using PassTimes = std::map<LayerPass, PassTime>;

std::string_view name(KernelPass pass);

/// The steady step that a trace's stands beside, the last one.
std::size_t last_steady_step(const Timeline& timeline);
/// The compute tasks of that step.
PassTimes predicted_times(const Prediction& prediction);
/// Where predicted_times() has the pass: in a plan by classes, at the device that stands for its.
LayerPass in_plan(const Plan& plan, const LayerPass& pass);
PassTimes traced_times(const Trace& trace, const KernelLayers& found, std::uint32_t step);

/// Its name in the case's cluster; "GPU 9" where the trace has more devices than that.
std::string traced_device(const Case& input, DeviceId device);

/// Of the steps' lengths, the lower one of two in the middle.
std::uint32_t median_step(const KernelLayers& found);

/// A layer's pass on one device, in the trace's median step (of all of a trace that names none) and
/// in the prediction.
struct ComparedPass {
  LayerPass what;
  std::size_t kernels = 0;
  Seconds traced, predicted;  ///< 0: it has none
};
struct TraceComparison {
  std::vector<ComparedPass> passes;  ///< by device, layer and pass; those with kernels
  Seconds traced_step;               ///< the median one; 0 where the trace names none
  Seconds busy;                      ///< TraceStep::busy of that one, or of all of the trace
  std::size_t steps = 0;             ///< 0: the trace names none, and no time is of a step
  double known_share = 0;            ///< KernelLayers::known_share()
};
TraceComparison compare_kernels(const Trace& trace, const Case& input,
                                const Prediction& prediction);
/// `found`: match_kernels() of the case's network.
TraceComparison compare_kernels(const Trace& trace, const KernelLayers& found,
                                const Prediction& prediction);

}  // namespace strata
