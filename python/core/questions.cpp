#include "python/core/questions.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <mutex>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "exec/machine/local_machine.h"
#include "exec/machine/processes.h"
#include "python/core/failures.h"
#include "python/core/signals.h"
#include "sim/ask/progress_text.h"
#include "sim/base/error.h"
#include "sim/case/network.h"
#include "sim/exporters/trace/trace.h"
#include "sim/json/answer_json.h"
#include "sim/json/fields.h"
#include "sim/json/query_json.h"
#include "sim/json/sweep_json.h"
#include "sim/json/validate_json.h"
#include "sim/measure/kept_costs.h"
#include "sim/replay/replay.h"
#include "sim/result/result.h"
#include "sim/scenario/scenario.h"
#include "sim/search/within_memory.h"
#include "sim/strategy/hybrid.h"
#include "sim/study/report/query_cells.h"
#include "sim/study/sweep/sweep.h"
#include "sim/study/validate/validate.h"
#include "sim/text/units.h"

namespace strata::python {
namespace py = pybind11;
namespace {

// Runs of several threads take turns.
class Devices {
 public:
  Runner& runner() { return *runner_; }
  std::mutex& turn() { return turn_; }

 private:
  Processes processes_;
  std::unique_ptr<Runner> runner_ = local_machine(processes_);
  std::mutex turn_;
};

// Threads for devices start with the first question that needs them.
Devices& devices() {
  static Devices all;
  return all;
}

std::vector<Setting> settings_of(const Pairs& pairs) {
  std::vector<Setting> settings;
  settings.reserve(pairs.size());
  for (const auto& [key, value] : pairs) settings.push_back({key, value});
  return settings;
}

std::string text(const MeasureProgress& p) {
  return fmt::format("{}: round {} of {}", p.what, p.round, p.of);
}

std::string text(const SweepCount& count) {
  const std::string failed = count.failed > 0 ? fmt::format(", {} failed", count.failed) : "";
  return fmt::format("sweep: {} of {}{}", count.before + count.done + count.failed, count.cases,
                     failed);
}

AskOptions options_of(Work& work) {
  AskOptions options;
  options.cancelled = work.cancelled();
  if (!work.is_told()) return options;
  options.searching = [&work](const SolveProgress& p) { work.tell(p.stage, progress_text(p)); };
  options.training = [&work](const RunProgress& p) { work.tell(p.stage, progress_text(p)); };
  return options;
}

Answer ask_run(RunRequest request, const Caller& caller, Work& work) {
  request.costs = {cost_folder(), fmt::format("{}, strata {}", caller.host, STRATA_VERSION),
                   caller.date, caller.command};
  request.costs->recorded = request.recorded;
  AskOptions options = options_of(work);
  const std::lock_guard turn(devices().turn());
  options.runner = &devices().runner();
  return strata::ask(request, options);
}

// Files may change from one question to the next.
bool reads_files(const CaseRequest& input) {
  return is_model_file(input.model) || is_model_file(input.cluster) || !input.profiles.empty();
}

// Remembers what has a name, which many questions have in common.
CaseLoader& named_cases() {
  static CaseLoader loader;
  return loader;
}

CaseLoader* loader_of(const Request& request) {
  return reads_files(case_of(request)) ? nullptr : &named_cases();
}

bool is_named(const std::string& strategy) {
  return !strategy.ends_with(".json") && !searched_objective(strategy);
}

// Whether warnings are looked for at once: with what-ifs, they take as long as the prediction.
// Later, nothing is searched for again, and no file is read that may have changed.
bool warned_at_once(const Request& request) {
  const auto* predict = std::get_if<PredictRequest>(&request);
  if (predict == nullptr || predict->input.sets.empty() || reads_files(predict->input)) return true;
  return !std::ranges::all_of(split_strategies(predict->strategy), is_named);
}

Answer ask_simulator(const Request& request, Work& work) {
  AskOptions options = options_of(work);
  options.loader = loader_of(request);
  options.warnings = warned_at_once(request) ? Warnings::of_what_ifs : Warnings::none;
  Answer answer = strata::ask(request, options);
  const auto* solved = std::get_if<Solved>(&answer.found);
  if (solved == nullptr || !solved->best.empty() || is_set(work.cancelled())) return answer;
  throw Infeasible(
      none_found(*answer.input, *solved, std::get<SolveRequest>(request).search.memory_limit));
}

}  // namespace

namespace {

// Whether a prediction's document has it as a number: flags are true and false there.
bool is_figure(const ColumnSpec& column) {
  return (column.group == ColumnGroup::question || column.group == ColumnGroup::step) &&
         type_of(column) != ColumnType::flag;
}

}  // namespace

std::size_t Answered::predictions() const {
  const auto* all = std::get_if<std::vector<Predicted>>(&answer_.found);
  return all == nullptr ? 0 : all->size();
}

const Predicted* Answered::only() const {
  return predictions() == 1 ? &std::get<std::vector<Predicted>>(answer_.found).front() : nullptr;
}

py::object Answered::figure(const std::string& key) {
  const Predicted* const predicted = only();
  const ColumnSpec* const column = find_column(key);
  if (predicted == nullptr || column == nullptr || !is_figure(*column)) return py::none();
  const Field field = [&] {
    const py::gil_scoped_release released;
    const std::lock_guard guard(*lock_);
    if (!result_) result_ = result_of(*answer_.input, predicted->prediction);
    return field_of(*column, *result_);
  }();
  if (const auto* whole = std::get_if<std::int64_t>(&field)) return py::int_(*whole);
  if (const auto* real = std::get_if<double>(&field)) return py::float_(*real);
  return py::none();
}

void Answered::doubt() {
  if (warned_) return;
  AskOptions options;
  options.loader = loader_of(answer_.request);
  answer_.warnings = strata::ask(answer_.request, options).warnings;
  warned_ = true;
}

std::vector<std::string> Answered::warnings() {
  const py::gil_scoped_release released;
  const std::lock_guard guard(*lock_);
  doubt();
  return answer_.warnings;
}

std::string Answered::json() {
  const py::gil_scoped_release released;
  const std::lock_guard guard(*lock_);
  if (text_.empty()) {
    doubt();
    text_ = json_text(to_json(answer_));
  }
  return text_;
}

std::string Answered::trace() const {
  const py::gil_scoped_release released;
  const Predicted* const predicted = only();
  if (predicted == nullptr) throw InputError("only a prediction of one strategy has a timeline");
  const Case& input = *answer_.input;
  const Strategy& strategy = predicted->prediction.strategy;
  PredictRequest request = std::get<PredictRequest>(answer_.request);
  request.detail = Detail::timelines;
  request.link_rates = true;
  const Prediction p = strata::predicted(request, input, strategy).prediction;
  return print_trace(input.graph, input.cluster, p.plan, p.timeline);
}

Answered ask(const std::string& kind, const Pairs& settings, const Caller& caller,
             py::object told) {
  Work work(std::move(told));
  return without_lock(work, [&] {
    Request request = understand(kind, settings_of(settings));
    if (auto* run = std::get_if<RunRequest>(&request)) {
      return Answered(ask_run(*run, caller, work), true);
    }
    return Answered(ask_simulator(request, work), warned_at_once(request));
  });
}

namespace {

InputError wrong(const Setting& given, const char* allowed) {
  return InputError(fmt::format("`{}`: '{}'; allowed: {}", given.key, given.value, allowed));
}

bool flag_of(const Setting& given) {
  if (given.value == "true") return true;
  if (given.value == "false") return false;
  throw wrong(given, "true, false");
}

std::size_t whole_of(const Setting& given) try {
  return static_cast<std::size_t>(read_whole(setting("steps"), given.value, Job::run));
} catch (const InputError&) {
  throw wrong(given, "a whole number of at least 1");
}

Seconds seconds_of(const Setting& given) try {
  const double value = parse_number(given.value);
  if (value > 0) return Seconds{value};
  throw InputError("no such time");
} catch (const InputError&) {
  throw wrong(given, "a number above 0");
}

constexpr std::string_view kValidateKeys[] = {"devices", "strategies", "rounds",
                                              "seconds", "only",       "graph"};

// Of a validation: its own settings, then those of its training.
void read(ValidateRequest& request, const Setting& given) {
  bool known = true;
  if (given.key == "devices") {
    request.devices = given.value;
  } else if (given.key == "strategies") {
    const std::vector<std::string> names = split_strategies(given.value);
    request.strategies.assign(names.begin(), names.end());
  } else if (given.key == "rounds") {
    request.rounds = whole_of(given);
  } else if (given.key == "seconds") {
    request.seconds = seconds_of(given);
  } else if (given.key == "only" || given.key == "graph") {
    const bool set = flag_of(given);
    (given.key == "only" ? request.each_count : request.recorded) =
        given.key == "only" ? !set : set;
  } else {
    known = false;
    each_setting(request.training, [&](std::string_view key, auto& value) {
      if (key != given.key) return;
      read_setting(key, given.value, value, Job::run);
      known = true;
    });
  }
  if (!known) throw InputError(fmt::format("{}: unknown setting", given.key));
}

}  // namespace

std::string validate(const std::vector<std::string>& models, const Pairs& settings,
                     const Caller& caller, py::object told) {
  Work work(std::move(told));
  return without_lock(work, [&] {
    ValidateRequest request;
    request.models = models;
    request.date = caller.date;
    request.command = caller.command;
    for (const Setting& given : settings_of(settings)) read(request, given);
    std::function<void(const MeasureProgress&)> progress;
    if (work.is_told()) {
      progress = [&work](const MeasureProgress& p) { work.tell(p.what, text(p)); };
    }
    const std::lock_guard turn(devices().turn());
    Runner& runner = devices().runner();
    const ValidateReport report = strata::validate(runner, request, work.cancelled(), progress);
    return json_text(validate_json(report, runner.description(request.devices), request));
  });
}

std::string sweep(const std::string& scenario, const std::string& database, unsigned threads,
                  std::pair<std::size_t, std::size_t> shard, const Caller& caller,
                  py::object told) {
  Work work(std::move(told));
  return without_lock(work, [&] {
    SweepRequest request;
    request.scenario = read_scenario(scenario);
    request.store = database;
    request.threads = threads;
    std::tie(request.shard, request.shards) = shard;
    request.invocation = {STRATA_VERSION, caller.command, caller.host, caller.started};
    std::function<void(const SweepCount&)> progress;
    if (work.is_told()) {
      progress = [&work](const SweepCount& count) { work.tell("sweep", text(count)); };
    }
    const std::lock_guard turn(devices().turn());
    const SweepCount count = strata::sweep(devices().runner(), request, work.cancelled(), progress);
    return json_text(sweep_json(request, count));
  });
}

std::string query(const std::string& database, const std::string& sql) {
  Store store(database, OpenMode::read);
  return json_text(query_json(store.query(sql.empty() ? std::string(kEachCase) : sql)));
}

std::string replay(const std::string& plan, const std::string& cluster, const Pairs& what_ifs) {
  const Cluster loaded = load_cluster(cluster, {what_ifs.begin(), what_ifs.end()});
  const ReplayPlan read = read_replay(plan, loaded);
  const auto before = std::chrono::steady_clock::now();
  const ActivityTimes times = simulate(read);
  const std::chrono::duration<double> engine = std::chrono::steady_clock::now() - before;
  std::string text;
  print_times(read, times, Seconds{engine.count()},
              [&text](std::string_view part) { text += part; });
  text.pop_back();  // the last newline, which documents have none of
  return text;
}

std::vector<std::string> keys(std::string_view kind) {
  std::vector<std::string> names;
  if (kind == "validate") {
    names.assign(std::begin(kValidateKeys), std::end(kValidateKeys));
    Training training;
    each_setting(training, [&names](std::string_view key, auto&) { names.emplace_back(key); });
    return names;
  }
  const Request request = understand(kind, {});
  std::visit(
      [&names](auto of) {
        each_setting(of, [&names](std::string_view key, auto&) { names.emplace_back(key); });
      },
      request);
  return names;
}

}  // namespace strata::python
