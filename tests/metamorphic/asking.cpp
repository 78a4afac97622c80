// One question asked in several ways: by classes of devices and of all devices, with rounds that
// repeat and with all rounds, from a printed plan, from a sweep, from files, with what earlier
// questions left behind.

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "sim/ask/answers.h"
#include "sim/base/error.h"
#include "sim/case/case_settings.h"
#include "sim/replay/replay.h"
#include "sim/scenario/scenario.h"
#include "sim/strategy/strategy_file.h"
#include "sim/text/file.h"
#include "tests/metamorphic/relation.h"

namespace strata::testing {
namespace {

// Rounds repeat to 1e-9 each, which adds up.
constexpr double kOrders = 1e-4;
double rounding_of_rounds(const Trial& trial) {
  return std::max(1e-8, 1e-9 * trial.cut().rounds);
}
constexpr double kParts = 1e-7, kPartsOfRounds = 1e-6;

// When each device ends what it does, in order of time.
std::vector<std::vector<double>> ends_of_devices(const Prediction& found) {
  std::vector<std::vector<double>> ends(found.plan.device_count());
  for (std::size_t step = 0; step < found.timeline.steps(); ++step) {
    for (std::size_t i = 0; i < found.plan.size(); ++i) {
      const TaskId task(i);
      if (found.plan[task].stream != Stream::device) continue;
      ends[found.plan[task].device()].push_back(found.timeline.span(step, task).end.value);
    }
  }
  for (std::vector<double>& each : ends) std::sort(each.begin(), each.end());
  return ends;
}

// How far apart the ends of devices of one class are, relative to a step. They do the same at the
// same times, but where tasks of several devices become ready at one instant: their numbers tell
// then which comes first, and these are not alike.
double distance_in_classes(const Plan& by_class, const Prediction& all) {
  const std::vector<std::vector<double>> ends = ends_of_devices(all);
  double most = 0;
  for (std::size_t d = 0; d < ends.size(); ++d) {
    const std::vector<double>& first = ends[by_class.representative(DeviceId(d))()];
    if (first.size() != ends[d].size()) return std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < first.size(); ++i) {
      most = std::max(most, std::abs(first[i] - ends[d][i]));
    }
  }
  return most / all.step.value;
}

// Each is one that some device of its class has in the other answer.
bool are_among(const Plan& by_class, const std::vector<Bytes>& peaks,
               const std::vector<Bytes>& all) {
  for (std::size_t d = 0; d < peaks.size(); ++d) {
    bool found = false;
    for (std::size_t other = 0; other < all.size(); ++other) {
      const bool same_class =
          by_class.representative(DeviceId(other)) == by_class.representative(DeviceId(d));
      found = found || (same_class && all[other] == peaks[d]);
    }
    if (!found) return false;
  }
  return true;
}

void expect_same(Trial& trial, const StepParts& a, const StepParts& b, std::string_view what,
                 double rounding) {
  const double step = trial.step().value;
  const auto near = [&](Seconds x, Seconds y, double most, std::string_view part) {
    trial.expect(std::abs((x - y).value) <= most * step, [&] {
      return fmt::format("{}, {}: {} s and {} s", what, part, x.value, y.value);
    });
  };
  near(a.compute, b.compute, rounding, "computing");
  near(a.recompute, b.recompute, rounding, "computing again");
  near(a.optimizer, b.optimizer, rounding, "updating");
  near(a.total(), b.total(), 10 * rounding, "all parts");
}

void classes_are_as_all_devices(Trial& trial) {
  trial.applies();
  PredictOptions options = whole_answer();
  options.devices = Simulated::one_of_each_class;
  options.all_steps = false;
  options.steps = trial.base.steps();
  const Prediction few = predict(trial.input(), trial.base.strategy, options);
  const Prediction& all = trial.found();
  // Fewer steps have not settled, but rounds that repeat tell what they come to.
  if (few.plan.rounds() < all.plan.rounds() && all.timeline.steps() < 4) return;
  const double distance = distance_in_classes(few.plan, all);
  // A larger distance is a fault, which the strict bounds show.
  const bool order_differs = distance > 1e-8 && distance <= kOrders;
  trial.expect_near(few.step.value, all.step.value, "steps by classes and of all devices",
                    order_differs ? kOrders : rounding_of_rounds(trial));
  trial.expect_near(few.eq1_seconds().value, all.eq1_seconds().value, "Eq. 1 by classes and not");
  if (!order_differs || !are_among(few.plan, few.peak_memory, all.peak_memory))
    trial.expect_equal(few.peak_memory, all.peak_memory, "peaks by classes and of all devices");
  trial.expect_equal(few.communication, all.communication, "bytes by classes and of all devices");
  trial.expect_near(few.sources.total().value, all.sources.total().value,
                    "costs by classes and of all devices", rounding_of_rounds(trial));
  double parts = few.plan.rounds() < all.plan.rounds() ? kPartsOfRounds : kParts;
  if (order_differs) parts = kOrders;
  expect_same(trial, few.breakdown.mean, all.breakdown.mean, "by classes and not", parts);
}

void a_printed_plan_replays_alike(Trial& trial) {
  const Case& cut = trial.cut();
  if (cut.runtime.communication_share > 0) return;  // a replay has no form for it
  trial.applies();
  const Workload made = build_workload(trial.found().plan, cut.cluster, trial.found().costs,
                                       trial.base.steps(), cut.runtime)
                            .workload;
  const ReplayPlan back = parse_replay(print_replay(made, cut.cluster), "plan.jsonl", cut.cluster);
  trial.expect_near(to_seconds(simulate(back).makespan).value, trial.found().makespan.value,
                    "makespans of the replay and the prediction");
}

// Without names and times of day.
struct Figures {
  Seconds step, makespan;
  Communication communication;
  std::vector<Bytes> peaks;
  bool operator==(const Figures&) const = default;
};
Figures figures(const Prediction& found) {
  return {found.step, found.makespan, found.communication, found.peak_memory};
}

void a_strategy_is_as_its_file(Trial& trial) {
  trial.applies();
  const std::string file = trial.folder + "/again.json";
  write_file_whole(file,
                   print_strategy(trial.base.strategy, trial.input().graph, trial.input().cluster));
  const Answer again = trial.with({{"strategy", file}});
  trial.expect_equal(figures(again.found), figures(trial.found()), "answers to a strategy's file");
}

void earlier_questions_change_nothing(Trial& trial) {
  if (trial.cut().schedule.is_given()) return;  // which may not suit the earlier one
  // The first device, which has the earlier one, may reach no memory of its host.
  if (trial.cut().sync.updates_on_host()) return;
  trial.applies();
  CaseMemo memo(trial.cut());
  PredictOptions options = whole_answer();
  options.steps = trial.base.steps();
  options.memo = &memo;
  predict(trial.cut(), data_parallel(trial.cut().graph, 1), options);
  const Prediction again = predict(trial.cut(), trial.base.strategy, options);
  trial.expect_equal(figures(again), figures(trial.found()), "answers with a memo");
  trial.expect_equal(again.terms, trial.found().terms, "terms of Eq. 1 with a memo");
}

// The request, printed and read back.
void settings_are_read_as_printed(Trial& trial) {
  trial.applies();
  DrawnCase printed;
  for (const Setting& setting : settings_of(trial.base.request())) {
    const bool set = setting.key == what_if_setting().key;
    const std::size_t equals = setting.value.find('=');
    printed.settings.push_back(
        set ? Setting{"set." + setting.value.substr(0, equals), setting.value.substr(equals + 1)}
            : setting);
  }
  printed.settings.push_back({"strategy", trial.drawn.value("strategy")});
  const Question question = understand(Job::predict, printed.settings);
  trial.expect_equal(question.input(), trial.base.request(), "a request and what it prints");
}

std::string scenario_text(const DrawnCase& drawn) {
  std::string plain = "[[sweep]]\n", sets = "[sweep.set]\n";
  for (const Setting& setting : drawn.settings) {
    const SettingSpec* const spec = find_setting(setting.key);
    const bool bare =
        spec != nullptr && (spec->form == ValueForm::positive || spec->form == ValueForm::natural ||
                            spec->form == ValueForm::flag || spec->form == ValueForm::rate);
    const std::string value = bare ? setting.value : fmt::format("\"{}\"", setting.value);
    if (spec != nullptr) {
      plain += fmt::format("{} = {}\n", setting.key, value);
    } else {
      sets += fmt::format("\"{}\" = {}\n", setting.key.substr(4), value);
    }
  }
  return plain + sets;
}

void a_row_of_a_sweep_is_as_the_prediction(Trial& trial) {
  trial.applies();
  const Scenario scenario =
      parse_scenario(scenario_text(trial.drawn), trial.folder + "/drawn.toml");
  const Question question = question_of(scenario, scenario.sweeps.front(), 0);
  const StoredResult row = Answers("0", nullptr).answer(question, nullptr);
  trial.expect(row.done, [&] { return fmt::format("the row says '{}'", row.error); });
  if (!row.done) return;
  const Prediction& found = trial.found();
  const auto number = [](const auto& value) {
    if constexpr (requires { value.has_value(); })
      return static_cast<double>(value.value_or(-1));
    else
      return static_cast<double>(value);
  };
  const bool settled = found.timeline.steps() > 3 || found.rounds == 1;
  if (settled) {
    trial.expect_near(number(row.step_seconds), found.step.value, "step of the row",
                      rounding_of_rounds(trial));
  }
  trial.expect_near(number(row.eq1_seconds), found.eq1_seconds().value, "Eq. 1 of the row");
  trial.expect_near(number(row.comm_bytes), static_cast<double>(found.communication.total().value),
                    "bytes of the row", 0);
  trial.expect_near(number(row.sync_bytes), static_cast<double>(found.communication.sync.value),
                    "summed bytes of the row", 0);
  trial.expect_near(number(row.peak_memory_bytes), static_cast<double>(found.largest_peak().value),
                    "peak of the row", 0);
}

constexpr Relation kAskingRelations[] = {
    {"classes are as all devices", classes_are_as_all_devices},
    {"a printed plan replays alike", a_printed_plan_replays_alike, 4},
    {"a strategy is as its file", a_strategy_is_as_its_file, 6},
    {"earlier questions change nothing", earlier_questions_change_nothing, 6},
    {"settings are read as printed", settings_are_read_as_printed},
    {"a row of a sweep is as the prediction", a_row_of_a_sweep_is_as_the_prediction, 8},
};

}  // namespace

std::span<const Relation> asking_relations() {
  return kAskingRelations;
}

}  // namespace strata::testing
