#pragma once

// The end of a test program whose GPU is lost: behind an illegal address, say, each later call of
// CUDA in the process fails, and each later test would, for no fault of its own. scripts/gpu-check
// runs the tests behind it in another process.

#include <functional>
#include <string>

#include <gtest/gtest.h>

namespace strata::cuda {

inline constexpr int kGpuLost = 70;  ///< the exit code

/// Ends the process at the end of a test after which the GPU is lost. GoogleTest does not come to
/// say how that test ended: it counts as one that broke off, whatever it found.
class EndWhenGpuIsLost : public ::testing::EmptyTestEventListener {
 public:
  /// `why_lost` says why the GPU can't be used any more; nothing while it can.
  explicit EndWhenGpuIsLost(std::function<std::string()> why_lost);
  void OnTestEnd(const ::testing::TestInfo& test) override;

 private:
  std::function<std::string()> why_lost_;
};

}  // namespace strata::cuda
