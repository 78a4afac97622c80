#pragma once

// A Runner of a machine without devices, for tests that run nothing.

#include "sim/base/error.h"
#include "sim/measure/runner.h"

namespace strata::testing {

class NoDevices : public Runner {
 public:
  Cluster cluster(const std::string&) const override { refuse(); }
  std::unique_ptr<PlanRun> start(const std::string&, const Graph&, const Plan&,
                                 const ExecutionOptions&) override {
    refuse();
  }
  std::unique_ptr<Measurer> measure(const std::string&, const Graph&, MeasureList) override {
    refuse();
  }
  std::string description(const std::string&) const override { return "nothing"; }

 private:
  [[noreturn]] static void refuse() { throw EnvironmentError("there are no devices"); }
};

}  // namespace strata::testing
