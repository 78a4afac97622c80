#pragma once

// Which layer's work each kernel of a trace of PyTorch's profiler (Kineto) is. A kernel names the
// call that launched it (`correlation`); the ranges that the call lies in, on its thread, name the
// layer: a record_function() called as the layer (features_0 or features.0), or a module
// (nn.Module: Conv2d_0, the first Conv2d, where there are as many of that class as layers of that
// op). What autograd launches belongs to the forward op of the same `Sequence number`, the last one
// of them, as the profiler itself ties them; threads count on their own (`Fwd thread id`), so where
// several run the network, each id stands for the thread that has the most of its numbers. Forward
// ops within a slice of autograd's are recomputed (checkpointing): a pass of their own, to which
// what autograd does next there of their numbers belongs. Of a correlation that calls of several
// processes have, nothing is known. Values; pure functions.

#include <atomic>
#include <cstdint>
#include <vector>

#include "sim/graph/graph.h"
#include "sim/importers/trace/read_trace.h"

namespace strata {

enum class KernelPass : std::uint8_t {
  forward,
  backward,
  update,
  recomputation  ///< of a forward pass, during the backward one
};

/// A slice of a GPU: a kernel, a copy or a fill.
struct LayerKernel {
  std::uint32_t slice = 0;  ///< in Trace::slices
  std::uint32_t device = 0, stream = 0;
  LayerId layer;  ///< invalid where nothing says which
  KernelPass pass = KernelPass::forward;
  std::uint32_t step = 0;  ///< in KernelLayers::steps; their number where it is of none

  bool operator==(const LayerKernel&) const = default;
};

/// From when the kernels that a step ("ProfilerStep#3") launched begin to when those of the next
/// one do. The last one, or one before a step without kernels, ends with its kernels or where the
/// host ended it, whichever is later.
struct TraceStep {
  Seconds begin, end;
  Seconds busy = {};  ///< in which its kernels ran, on the GPU that is busiest
  bool operator==(const TraceStep&) const = default;
};

struct KernelLayers {
  std::vector<LayerKernel> kernels;  ///< in the order of their begin
  std::vector<TraceStep> steps;      ///< in order, those with kernels
  bool names_steps = true;           ///< else all of the trace is in `steps` as one

  /// Of the time of all kernels, what is known to be a layer's or the optimiser's.
  double known_share(const Trace& trace) const;
};

/// Whether a profiler of PyTorch wrote it, with kernels.
bool has_kernels(const Trace& trace);

/// Throws Cancelled where `cancelled` says so.
KernelLayers match_kernels(const Trace& trace, const Graph& graph,
                           const std::atomic<bool>* cancelled = nullptr);

}  // namespace strata
