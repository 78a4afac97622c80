#pragma once

// cuDNN without a GPU, as seats use it: plans are the library's own, for the properties of an H200;
// their runs are made up, and what is asked of the library is counted. Not thread-safe.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "exec/cuda/products/seat_libraries.h"

namespace strata::cuda {

/// How often a plan is run before it is chosen, untimed and timed.
inline constexpr std::size_t kWarmUps = 3, kRounds = 7;

struct FakeRuns {
  /// What comes of a plan's run. Plans are numbered as they come to their first run, runs by plan.
  std::function<cudnnStatus_t(std::size_t plan, std::size_t run)> run;
  /// What a plan's run puts in its memory; plans of seats made without it are not checked.
  std::function<void(std::size_t plan, const ConvolutionMemory& memory)> compute;
  /// Whether a plan is refused; by how many were asked for before.
  std::function<bool(std::size_t planned)> refuses;
  std::vector<std::size_t> runs;  ///< by plan
  /// How often heuristics were asked, and how many plans were made or refused.
  std::size_t asked = 0, planned = 0;
};

/// Of all seats. Nothing was run or asked after reset().
FakeRuns& fake_runs();
void reset_fake_runs();

/// A seat on the host that stands for GPUs whose convolutions run so. `choices`: a file, or empty.
std::unique_ptr<Seat> seat_with_fake_runs(Precision precision, const std::string& choices = "");
std::unique_ptr<Seat> seat_with_fake_runs(const GpuPart& part, Precision precision,
                                          const std::string& choices = "");

}  // namespace strata::cuda
