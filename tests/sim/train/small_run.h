#pragma once

// A training of a few steps that a FakeRunner does at once, for tests of what is told of a run.

#include <optional>

#include "sim/train/run.h"
#include "tests/sim/measure/fake_runner.h"

namespace strata::testing {

inline RunRequest small_run() {
  RunRequest request;
  request.input.model = "lenet5", request.devices = "cpu:1", request.strategy = "data";
  request.input.training.batch = 4, request.steps = 8;
  return request;
}

/// `loops`: what the devices say of convolutions that no library's engine computes.
inline RunReport run_with(const std::optional<PlainLoops>& loops) {
  FakeRunner runner;
  runner.loops = loops;
  return run(runner, small_run());
}

}  // namespace strata::testing
