#pragma once

// For a command line that is described and not run. Stateless.

#include <memory>
#include <string>

#include "sim/base/error.h"
#include "sim/measure/runner.h"

namespace strata {

class NoRunner : public Runner {
 public:
  Cluster cluster(const std::string&) const override { refuse(); }
  std::unique_ptr<PlanRun> start(const std::string&, const Graph&, const Plan&,
                                 const ExecutionOptions&) override {
    refuse();
  }
  std::unique_ptr<Measurer> measure(const std::string&, const Graph&, MeasureList) override {
    refuse();
  }
  std::string description(const std::string&) const override { refuse(); }

 private:
  [[noreturn]] static void refuse() { throw EnvironmentError("the manual runs nothing"); }
};

}  // namespace strata
