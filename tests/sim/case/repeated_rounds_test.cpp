// Predictions that simulate few rounds beside those that simulate all.

#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/case/predict.h"
#include "sim/search/asked_strategy.h"
#include "sim/search/solve.h"

namespace strata {
namespace {

struct Example {
  std::string model, cluster, strategy, schedule;
  std::int64_t batch = 64;
  Recompute recompute = Recompute::none;
  WhatIfs sets = {};
  Zero zero = Zero::nothing;
};

Prediction predicted(const Example& of, Simulated devices) {
  CaseRequest request;
  request.model = of.model;
  request.cluster = of.cluster;
  request.training.batch = of.batch;
  request.training.micro_batch = 1;
  request.training.schedule = of.schedule;
  request.training.recompute = of.recompute;
  request.sets = of.sets;
  request.training.sync.zero = of.zero;
  request.training.dtype = DType::bf16;
  const Case input = load_case(request);
  PredictOptions options;
  options.devices = devices;
  options.all_steps = false;
  options.breakdown = true;
  return predict(input, load_strategy(of.strategy, input), options);
}

void expect_near(Seconds found, Seconds wanted, Seconds step) {
  EXPECT_NEAR(found.value, wanted.value, 1e-8 * step.value);
}

TEST(RepeatedRounds, TellWhatAllDo) {
  const std::string gpt = "llama:layers=8,hidden=256,heads=8,kv_heads=4,ffn=512,seq=128,vocab=1000";
  const std::string uneven = "resnet50";
  std::size_t shortened = 0;
  for (const Example& of :
       {Example{gpt, "a100-1x8", "hybrid:tp=2,pp=4", ""},
        Example{gpt, "a100-2x8", "hybrid:tp=2,pp=4", "1f1b", 80},
        Example{gpt, "a100-1x8", "hybrid:tp=2,sp=1,pp=2,vp=2", "", 64, Recompute::full},
        Example{gpt, "a100-2x4", "hybrid:tp=2,pp=4,vp=2", "", 48},
        Example{gpt, "a100-1x4", "hybrid:pp=4", "zb-h1", 50},
        Example{gpt, "a100-1x4", "hybrid:pp=4,vp=v", "", 50},
        Example{gpt, "a100-1x4", "hybrid:pp=4", "gpipe", 30},
        Example{gpt, "a100-1x1", "data", "", 40},
        Example{gpt,
                "h100-2x2",
                "hybrid:tp=2,pp=2,vp=2",
                "interleaved",
                48,
                Recompute::none,
                {{"link.inter.latency", "3ms"}}},
        Example{gpt,
                "h100-1x4",
                "hybrid:pp=4,vp=v",
                "zb-v",
                48,
                Recompute::none,
                {{"link.*.latency", "5ms"}}},
        Example{gpt,
                "h100-1x4",
                "hybrid:pp=4",
                "1f1b",
                40,
                Recompute::none,
                {{"launch.forward", "80us"}, {"launch.backward", "5us"}}},
        Example{gpt, "a100-1x2", "data", "", 80, Recompute::none, {{"launch.update", "300us"}}},
        Example{gpt, "a100-1x2", "data", "", 80, Recompute::none, {}, Zero::gradients},
        Example{gpt, "a100-1x2", "data", "", 80, Recompute::none, {}, Zero::parameters},
        Example{gpt, "a100-2x2", "hybrid:pp=2", "", 80, Recompute::full, {}, Zero::parameters},
        Example{gpt, "a100-2x5", "hybrid:pp=5", "", 80, Recompute::none, {}, Zero::parameters},
        Example{gpt, "a100-2x2", "hybrid:pp=2,vp=2", "", 80, Recompute::none, {}, Zero::parameters},
        // Whose first stage leaves more gradients of parameters for later with each round.
        Example{"gpt:layers=2,hidden=16,heads=2,ffn=8,seq=4,vocab=40", "p100-3x1",
                "hybrid:pp=3,vp=v", "", 18},
        // Of more flows an edge than are simulated one by one, which joins wait for.
        Example{"lenet5", "a100-5x8", "owt", "", 800},
        Example{uneven, "p100-1x4", "hybrid:pp=4", "", 60},
        Example{uneven, "p100-2x2", "hybrid:pp=2", "zb-h1", 60},
        Example{"vgg16", "p100-1x4", "hybrid:pp=4", "1f1b", 60},
        Example{"vgg16", "p100-1x4", "data", "", 60}}) {
    SCOPED_TRACE(fmt::format("{} {} {} {}", of.model, of.cluster, of.strategy, of.schedule));
    const Prediction few = predicted(of, Simulated::one_of_each_class);
    const Prediction all = predicted(of, Simulated::all_devices);
    const Seconds step = all.step_seconds();
    shortened += few.plan.rounds() < all.plan.rounds();
    EXPECT_EQ(few.rounds, all.rounds);
    expect_near(few.step_seconds(), step, step);
    EXPECT_EQ(few.communication, all.communication);
    EXPECT_EQ(few.peak_memory, all.peak_memory);
    EXPECT_EQ(few.terms.size(), all.terms.size());
    expect_near(few.eq1_seconds(), all.eq1_seconds(), step);
    const double devices = static_cast<double>(all.plan.device_count());
    expect_near(few.sources.total(), all.sources.total(), devices * step);
    expect_near(few.breakdown.mean.total(), step, step);
    expect_near(few.breakdown.mean.compute, all.breakdown.mean.compute, step);
    expect_near(few.breakdown.mean.recompute, all.breakdown.mean.recompute, step);
    expect_near(few.breakdown.mean.optimizer, all.breakdown.mean.optimizer, step);
    expect_near(few.breakdown.mean.bubble, all.breakdown.mean.bubble, step);
    expect_near(few.breakdown.mean.exposed.total(), all.breakdown.mean.exposed.total(), step);
  }
  EXPECT_EQ(shortened, 18U);  // the others do not repeat in time
}

// docs/model.md: two replicas, forty rounds, parameters and gradients in bf16.
TEST(RepeatedRounds, HaveTheTrafficOfTheirSharing) {
  const std::string gpt = "gpt:layers=4,hidden=64,heads=4,seq=32,vocab=100";
  const Bytes once{2 * load_model(gpt, 1).parameters()};
  for (const auto& [zero, times] :
       {std::pair{Zero::nothing, 2}, std::pair{Zero::state, 2}, std::pair{Zero::gradients, 41},
        std::pair{Zero::parameters, 120}}) {
    const Prediction p = predicted({gpt, "a100-1x2", "data", "", 80, Recompute::none, {}, zero},
                                   Simulated::one_of_each_class);
    EXPECT_EQ(p.rounds, 40U);
    EXPECT_EQ(p.communication.sync, once * times) << name(zero);
  }
}

}  // namespace
}  // namespace strata
