#pragma once

// An executor with the backend that it runs on, as studies hold it. Internal to exec/machine.

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "exec/runtime/backend.h"
#include "sim/measure/runner.h"

namespace strata {

/// `AnyExecutor`: of one process, or one that works with others.
template <class AnyExecutor>
class ExecutorRun : public PlanRun {
 public:
  /// `make(Backend&)` returns the executor.
  template <class Make>
  ExecutorRun(std::shared_ptr<Backend> backend, const Make& make)
      : backend_(std::move(backend)), executor_(make(*backend_)) {}

  void set_parameters(LayerId layer, std::span<const float> whole) override {
    executor_.set_parameters(layer, whole);
  }
  std::vector<float> parameters(LayerId layer) const override {
    return executor_.parameters(layer);
  }
  std::vector<float> gradients(LayerId layer) const override { return executor_.gradients(layer); }
  Execution run(std::size_t steps, const BatchOf& batch_of,
                const std::atomic<bool>* cancelled) override {
    return executor_.run(steps, batch_of, cancelled);
  }

 private:
  std::shared_ptr<Backend> backend_;
  AnyExecutor executor_;
};

}  // namespace strata
