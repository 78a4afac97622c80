#include "tests/sim/workflow/workflow.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/graph/regions.h"
#include "sim/replay/replay.h"
#include "sim/store/store.h"
#include "sim/strategy/strategy_file.h"
#include "sim/study/search/solve.h"
#include "sim/study/sweep/sweep.h"
#include "sim/text/file.h"
#include "tests/sim/study/fake_runner.h"
#include "tests/sim/workflow/drawn_case.h"

namespace strata::testing {
namespace {

constexpr double kRounding = 1e-9;

bool near(double a, double b) {
  return std::abs(a - b) <= kRounding * std::max(std::abs(a), std::abs(b));
}

class Workflow {
 public:
  Workflow(std::uint64_t seed, const std::string& folder) : random_(seed), folder_(folder) {}

  WorkflowFindings run() {
    drawn_.emplace(drawn_case(random_, folder_));
    attempt("load", [&] { input_.emplace(load_case(drawn_->request)); });
    if (!input_) return std::move(findings_);
    attempt("predict", [&] { check_prediction(); });
    attempt("solve", [&] { check_search(); });
    attempt("sweep", [&] { check_sweep(); });
    return std::move(findings_);
  }

 private:
  template <class Step>
  void attempt(const char* name, const Step& step) {
    try {
      step();
    } catch (const InputError& error) {
      findings_.refused.push_back(fmt::format("{}: {}", name, error.message()));
    }
  }

  void expect(bool holds, const std::string& what) {
    if (!holds) findings_.faults.push_back(what);
  }
  void expect_time(Seconds time, const char* what) {
    expect(std::isfinite(time.value) && time.value >= 0, fmt::format("{}: {} s", what, time.value));
  }
  void expect_near(double a, double b, const char* what) {
    expect(near(a, b), fmt::format("{}: {} and {}", what, a, b));
  }

  void check_prediction() {
    PredictOptions options;
    options.breakdown = true;
    const Prediction found = predict(*input_, drawn_->strategy, options);
    expect_time(found.step, "step");
    expect_time(found.makespan, "makespan");
    expect_time(found.eq1_seconds(), "Eq. 1");
    expect(found.step.value <= found.makespan.value * (1 + kRounding),
           fmt::format("a step of {} s in a makespan of {} s", found.step.value,
                       found.makespan.value));
    check_parts(found);
    check_memory(found);
    check_replay(found, options.steps);
    check_classes(found);
    const JitteredSteps jittered = predict_jitter(*input_, found, {random_(), 20});
    expect_time(jittered.p50, "median of jittered steps");
    expect(jittered.p95 >= jittered.p50, "the 95th percentile lies below the median");
  }

  void check_parts(const Prediction& found) {
    expect(found.breakdown.devices.size() == input_->cluster.device_count(),
           "devices have no parts");
    for (const StepParts& parts : found.breakdown.devices) {
      for (const Seconds part : {parts.compute, parts.recompute, parts.bubble, parts.optimizer,
                                 parts.launch, parts.exposed.transfer, parts.exposed.reduce,
                                 parts.exposed.gather, parts.exposed.statistics}) {
        expect(part.value >= -kRounding * found.step.value, "a part of a step is negative");
      }
      expect(std::abs(parts.total().value - found.timeline.step_seconds().value) <=
                 1e-6 * found.step.value,
             fmt::format("the parts come to {} s, the step to {} s", parts.total().value,
                         found.step.value));
    }
    const Communication& moved = found.communication;
    expect(moved.transfer.value >= 0 && moved.sync.value >= 0, "negative bytes");
  }

  // Without sharing among replicas, each device holds the parameters of its shards.
  void check_memory(const Prediction& found) {
    std::vector<std::int64_t> least(input_->cluster.device_count());
    for (std::size_t i = 0; i < input_->graph.size(); ++i) {
      const Layer& layer = input_->graph[LayerId(i)];
      if (layer.weight_of.valid()) continue;
      const Config& config = found.strategy[LayerId(i)];
      const Partition parts = partition(layer, config.degrees);
      for (std::size_t s = 0; s < config.devices.size(); ++s) {
        least[config.devices[s]()] +=
            shard_parameters(layer, parts.tile(static_cast<std::int64_t>(s))).total() *
            element_bytes(input_->dtypes.parameters);
      }
    }
    const bool whole = input_->sync.zero != Zero::parameters;
    for (std::size_t d = 0; d < least.size(); ++d) {
      const std::int64_t peak = found.peak_memory[d].value;
      expect(
          peak >= (whole ? least[d] : 0),
          fmt::format("device {} has {} bytes of parameters and a peak of {}", d, least[d], peak));
    }
  }

  void check_replay(const Prediction& found, std::size_t steps) {
    if (input_->runtime.communication_share > 0) return;  // of which a replay has no form
    const Workload made =
        build_workload(found.plan, input_->cluster, found.costs, steps, input_->runtime).workload;
    const ReplayPlan back =
        parse_replay(print_replay(made, input_->cluster), "plan.jsonl", input_->cluster);
    expect_near(to_seconds(simulate(back).makespan).value, found.makespan.value,
                "makespan of the replay, and predicted");
  }

  // One device of each class tells the same.
  void check_classes(const Prediction& found) {
    PredictOptions options;
    options.devices = Simulated::one_of_each_class;
    options.all_steps = false;
    const Prediction few = predict(*input_, drawn_->strategy, options);
    expect_near(few.step.value, found.step.value, "step by classes, and of all devices");
    expect(few.peak_memory == found.peak_memory,
           "peaks by classes differ from those of all devices");
  }

  void check_search() {
    SolveOptions options;
    options.space.degrees = DegreeSet::pow2;
    options.evaluations = 20;
    options.limits.threads = 1;
    const Solved found = solve(*input_, options);
    expect_time(found.lower_bound, "bound");
    for (const Scored& best : found.best) {
      expect(best.fits, "the best does not fit");
      // The bound is of the space alone.
      expect(found.outside || found.lower_bound.value <= best.step.value * (1 + kRounding),
             fmt::format("a bound of {} s above a step of {} s", found.lower_bound.value,
                         best.step.value));
      expect_near(predict(*input_, best.strategy).step.value, best.step.value,
                  "step of the best, and as the search has it");
    }
    check_bound(found, options.space);
  }

  // Of strategies of the space that fit.
  void check_bound(const Solved& found, const SearchOptions& options) {
    const SearchSpace space(input_->graph, input_->cluster, options);
    for (int k = 0; k < 3; ++k) {
      Choices choices;
      for (std::size_t v = 0; v < space.size(); ++v) {
        choices.push_back(static_cast<std::uint32_t>(random_() % space[v].cuts->size()));
      }
      const Prediction other = predict(*input_, space.strategy("drawn", choices));
      if (shortage(*input_, other.peak_memory)) continue;
      expect(found.lower_bound.value <= other.step.value * (1 + kRounding),
             fmt::format("a bound of {} s above a strategy of {} s", found.lower_bound.value,
                         other.step.value));
    }
  }

  std::string scenario_text(const std::pair<std::string, std::string>& what_if) const {
    const CaseRequest& r = drawn_->request;
    return fmt::format(
        "[[sweep]]\nmodel = \"net.toml\"\ncluster = \"cluster.toml\"\nbatch = {}\n"
        "strategy = [\"data\", \"drawn.json\"]\nsync = \"{}\"\nbucket = {}\nzero = \"{}\"\n"
        "dtype = \"{}\"\noptimizer = \"{}\"\nrecompute = \"{}\"\n[sweep.set]\n\"{}\" = \"{}\"\n",
        *r.batch, name(r.sync.algorithm), r.sync.bucket.value, name(r.sync.zero), name(r.dtype),
        name(r.optimizer), name(r.recompute), what_if.first, what_if.second);
  }

  void check_sweep() {
    const std::string file = folder_ + "/drawn.json";
    write_file_whole(file, print_strategy(drawn_->strategy, input_->graph, input_->cluster));
    const auto what_if = drawn_what_if(random_);
    SweepRequest asked;
    asked.scenario = parse_scenario(scenario_text(what_if), folder_ + "/s.toml");
    asked.store = folder_ + "/s.db";
    asked.threads = 1;
    asked.invocation = {"0", "workflow", "here", "2026-01-01T00:00:00Z"};
    FakeRunner runner;
    const SweepCount first = sweep(runner, asked), again = sweep(runner, asked);
    expect(first.cases == 2 && first.done + first.failed == 2, "a sweep left cases out");
    expect(again.before == 2 && again.done == 0, "a sweep did its cases again");
    CaseRequest request = drawn_->request;
    request.sets = {what_if};
    check_row(load_case(request), read_strategy(file, input_->graph, input_->cluster));
  }

  void check_row(const Case& changed, const Strategy& strategy) {
    expect(cut_alike(changed.graph, strategy, drawn_->strategy),
           "a strategy's file has another one");
    std::optional<double> expected;
    attempt("predict what-if", [&] { expected = predict(changed, strategy).step.value; });
    const QueryResult rows =
        Store(folder_ + "/s.db", OpenMode::read)
            .query("SELECT step_seconds, done, error FROM cases WHERE strategy LIKE '%drawn%'");
    if (rows.rows.size() != 1) return expect(false, "no row of the strategy");
    const auto& row = rows.rows.front();
    const auto step = number_in(row[0]);
    expect(step.has_value() == expected.has_value(),
           fmt::format("a row says '{}' of a step that {}", text_of(row[2]),
                       expected ? "is predicted" : "is refused"));
    if (step && expected) expect_near(*step, *expected, "step of the sweep, and predicted");
  }

  Random random_;
  const std::string& folder_;
  std::optional<DrawnCase> drawn_;
  std::optional<Case> input_;
  WorkflowFindings findings_;
};

}  // namespace

WorkflowFindings try_workflow(std::uint64_t seed, const std::string& folder) {
  return Workflow(seed, folder).run();
}

}  // namespace strata::testing
