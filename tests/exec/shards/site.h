#pragma once

// The devices that a test's shards run on: a backend, and what a test must know of it beside.

#include "exec/runtime/backend.h"

namespace strata::shards {

class Site {
 public:
  virtual ~Site() = default;

  virtual Backend& backend() = 0;
  virtual void enter(DeviceId device) { backend().enter(device); }
  /// Kernels that run from now on are of this step.
  virtual void begin_step(const StepContext&) {}

  /// What a tensor's element holds of a value.
  virtual double held(double value) const { return static_cast<float>(value); }
  /// Of a tensor's largest value: single precision, over a few thousand terms.
  virtual double tolerance() const { return 1e-5; }
  /// Hears of each tensor that was compared, how far it was off.
  virtual void saw(double) {}
  /// Fails the test where a tensor that was written breaks a rule of its layout.
  virtual void expect_sound(const Region&) {}
};

}  // namespace strata::shards
