// The two interpreters of the plan agree: devices that take turns on a fake clock, with tasks that
// last as long as the cost model says, give the simulator's timeline to the bit.

#include "exec/runtime/dispatcher.h"

#include <map>

#include <gtest/gtest.h>

#include "sim/engine/tick.h"
#include "sim/simulate/simulate.h"
#include "tests/exec/runtime/drawn_plan.h"

namespace strata {
namespace {

using strata::testing::pick;
using strata::testing::Random;

// Few distinct durations, so that ties are common; some tasks take no time.
std::vector<Cost> random_costs(const Plan& plan, Random& random) {
  std::vector<Cost> costs(plan.size());
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (plan[TaskId(i)].stream != Stream::device) continue;
    costs[i].seconds = {0.001 * static_cast<double>(pick(random, 0, 4))};
  }
  return costs;
}

// A backend that computes nothing, on a clock that jumps from one end of a task to the next.
class FakeDevices {
 public:
  FakeDevices(const Plan& plan, const std::vector<Cost>& costs, std::size_t steps)
      : plan_(plan), costs_(costs), dispatcher_(plan, steps), spans_(steps * plan.size()) {}

  std::vector<Span> run() && {
    dispatcher_.start([&](Turn turn) { became_ready(turn); });
    begin_all();
    while (!under_way_.empty()) {
      now_ = under_way_.begin()->first;
      // All that ends now ends before anybody begins.
      while (!under_way_.empty() && under_way_.begin()->first == now_) {
        const Turn turn = under_way_.begin()->second;
        under_way_.erase(under_way_.begin());
        busy_[plan_[turn.task].device()] = false;
        dispatcher_.complete(turn, [&](Turn next) { became_ready(next); });
      }
      begin_all();
    }
    EXPECT_TRUE(dispatcher_.finished());
    return std::move(spans_);
  }

 private:
  Span& span(Turn turn) { return spans_[turn.step * plan_.size() + turn.task()]; }
  void became_ready(Turn turn) {
    const Seconds at = to_seconds(now_);
    span(turn) = {at, at, at};
  }
  void begin_all() {
    for (std::size_t d = 0; d < plan_.device_count(); ++d) {
      if (busy_[d]) continue;
      const auto turn = dispatcher_.take(DeviceId(d));
      if (!turn) continue;
      const Tick end = now_ + to_ticks(costs_[turn->task()].seconds);
      span(*turn).start = to_seconds(now_);
      span(*turn).end = to_seconds(end);
      under_way_.emplace(end, *turn);
      busy_[d] = true;
    }
  }

  const Plan& plan_;
  const std::vector<Cost>& costs_;
  Dispatcher dispatcher_;
  std::vector<Span> spans_;
  std::multimap<Tick, Turn> under_way_;
  std::map<std::size_t, bool> busy_;
  Tick now_ = 0;
};

TEST(Dispatcher, TakesTurnsAsTheSimulatorDoes) {
  constexpr std::size_t kSteps = 3;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const strata::testing::DrawnPlan drawn(random);
    const Plan& plan = drawn.plan;
    const std::vector<Cost> costs = random_costs(plan, random);

    const Timeline predicted = simulate(plan, drawn.cluster, costs, kSteps);
    const Timeline walked(plan.size(), FakeDevices(plan, costs, kSteps).run());
    ASSERT_EQ(walked.spans(), predicted.spans());
  }
}

}  // namespace
}  // namespace strata
