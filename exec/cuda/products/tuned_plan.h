#pragma once

// The plan for a convolution in one direction that was the fastest on the seat's own stream, or,
// where time does not matter (EngineSearch), the first that ran. One whose result differs from
// plain loops' is never chosen, unless there is no room to run it beforehand. The choice is kept in
// a file and holds for good: the same engine always, so the same numbers. A known choice is made
// again from its name; an untimed one is never taken for the fastest. Who asks while somebody has
// the plan gets the same.

#include <memory>
#include <string>

#include "exec/cuda/products/cudnn_graph.h"
#include "exec/cuda/products/seat_libraries.h"

namespace strata::cuda {

/// Workspaces larger than this are not lent.
inline constexpr std::int64_t kMostWorkspace = std::int64_t{512} << 20U;

struct TunedPlan {
  std::shared_ptr<const ConvolutionPlan> plan;
  /// Where there is none: the first status on the way there, of which engine, for which product:
  /// "CUDNN_STATUS_EXECUTION_FAILED (engine 67 2=1) for forward fp32 n2 ...".
  std::string refusal;
};

/// No plan where the library has no engine for it: it does not support one, or none that it
/// proposes can be run and computes the product. Waits for the stream where it has to measure.
/// Throws EnvironmentError for any other failure.
TunedPlan tuned_plan(Seat& seat, const ConvolutionShape& shape, Direction direction);

/// "forward bf16 n32 c64-64 g1 h56-56 k3 s1 d1 p1,1 w56-56 ...".
std::string show(const ConvolutionShape& shape, Direction direction, Precision precision);

}  // namespace strata::cuda
