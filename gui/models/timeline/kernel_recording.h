#pragma once

// A trace of PyTorch's profiler beside a prediction: the kernels of a GPU in the lanes of a device,
// as layers that the prediction knows, from the moment on at which the prediction's last steady
// step begins. GPU k stands beside the k-th device. What was matched last is kept for as long as
// a recording of it is: it depends on the trace and the network's layers alone. Thread-safe.

#include <atomic>
#include <memory>
#include <string>

#include "gui/models/scene.h"
#include "gui/models/timeline/lanes.h"
#include "sim/importers/trace/kernel_layers.h"

namespace strata::gui {

/// `name`: of the trace. Its median step stands at the prediction's last steady one. Throws
/// Cancelled where `cancelled` says so.
RecordingPtr record_beside(std::shared_ptr<const Trace> trace, const std::string& name,
                           const ScenePtr& scene, const std::atomic<bool>* cancelled = nullptr);

/// What of the trace was matched: "trace.json: 97.1 % of the kernels' time is known to be of
/// vgg16's layers; a step takes 131 ms (the median of 3), 120 ms of it with a GPU busy, predicted
/// 128 ms". Where the trace names no steps, it says that in place of a step's time.
std::string match_text(const Trace& trace, const std::string& name, const Scene& scene);

}  // namespace strata::gui
