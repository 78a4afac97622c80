// `--overlap experts`: the same work, of which more happens at once.

#include <string>

#include <gtest/gtest.h>

#include "sim/case/case.h"
#include "sim/case/predict.h"
#include "sim/search/asked_strategy.h"

namespace strata {
namespace {

Prediction predicted(const std::string& strategy, PassOverlap overlap,
                     Simulated devices = Simulated::one_of_each_class) {
  CaseRequest request;
  request.model = "llama:layers=8,hidden=1024,heads=16,seq=1024,vocab=1000,experts=8,topk=2";
  request.cluster = "a100-1x8";
  request.sets = {{"link.*.bandwidth", "0.2x"}};
  request.training.batch = 128;
  request.training.micro_batch = 1;
  request.training.dtype = DType::bf16;
  request.training.overlap = overlap;
  const Case input = load_case(request);
  PredictOptions options;
  options.devices = devices;
  options.breakdown = true;
  return predict(input, load_strategy(strategy, input), options);
}

TEST(PassOverlap, HidesTransfersBehindOtherMicroBatches) {
  for (const char* strategy : {"hybrid:ep=8", "hybrid:pp=2,ep=4", "hybrid:pp=2,vp=2,ep=4"}) {
    SCOPED_TRACE(strategy);
    const Prediction apart = predicted(strategy, PassOverlap::none);
    const Prediction beside = predicted(strategy, PassOverlap::experts);
    EXPECT_LT(beside.step_seconds(), 0.95 * apart.step_seconds());
    EXPECT_LT(beside.breakdown.mean.exposed.transfer, 0.8 * apart.breakdown.mean.exposed.transfer);
    EXPECT_EQ(beside.communication, apart.communication);
    EXPECT_NEAR(beside.breakdown.mean.compute.value, apart.breakdown.mean.compute.value,
                1e-9 * apart.step_seconds().value);
    EXPECT_GE(beside.peak_memory.front(), apart.peak_memory.front());
  }
}

TEST(PassOverlap, ClassesDoWhatAllDevicesDo) {
  const char* const strategy = "hybrid:pp=2,ep=4";
  const Prediction few = predicted(strategy, PassOverlap::experts);
  const Prediction all = predicted(strategy, PassOverlap::experts, Simulated::all_devices);
  EXPECT_LT(few.plan.size(), all.plan.size());
  EXPECT_NEAR(few.step_seconds().value, all.step_seconds().value, 1e-8 * all.step_seconds().value);
  EXPECT_EQ(few.peak_memory, all.peak_memory);
}

}  // namespace
}  // namespace strata
