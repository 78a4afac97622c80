#include "sim/ask/ask.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "sim/ask/complete.h"
#include "sim/base/error.h"
#include "sim/case/memory_need.h"
#include "sim/case/plausibility.h"
#include "sim/case/rounds.h"
#include "sim/explain/named_layer.h"
#include "sim/search/asked_strategy.h"
#include "sim/search/keep.h"
#include "sim/search/score.h"
#include "sim/strategy/hybrid.h"
#include "sim/text/units.h"
#include "sim/trust/anomalies.h"
#include "sim/trust/cost_warnings.h"

namespace strata {
namespace {

// A trace of more than so many tasks would be of little use; layers have several each.
constexpr std::size_t kMostTracedLayers = 1'000'000;

// Separated by commas, unless a file's name has them.
std::vector<std::string> names_in(const std::string& strategies) {
  if (std::filesystem::is_regular_file(strategies)) return {strategies};
  return split_strategies(strategies);
}

bool is_traced_whole(const Case& input, const Strategy& strategy) {
  const std::size_t layers = input.graph.size() * input.cluster.device_count();
  return layers * in_rounds(input, strategy).rounds <= kMostTracedLayers;
}

// Where a cut into fewer parts than there are devices leaves some without work.
std::string idle_devices(const std::string& strategy, const Plan& plan, const Cluster& cluster) {
  std::vector<bool> works(cluster.device_count(), false);
  for (const Task& task : plan.tasks()) {
    if (task.kind == TaskKind::compute) works[task.device()] = true;
  }
  std::size_t idle = 0;
  for (std::size_t d = 0; d < works.size(); ++d) {
    idle += works[plan.representative(DeviceId(d))()] ? 0 : 1;
  }
  return idle == 0 ? ""
                   : fmt::format("{}: {} of {} devices have no work", strategy, idle, works.size());
}

std::string implausible(const Case& input, const Strategy& strategy, Seconds step) {
  const std::optional<Plausibility> found = plausibility(input, strategy, step);
  return found && !found->plausible ? fmt::format("{}: {}", strategy.name(), found->reason) : "";
}

// Costs of a roofline do not scatter, and neither do those of a profile without spreads.
bool scatters(const Prediction& p) {
  return std::ranges::any_of(p.costs, [](const Cost& cost) { return cost.spread > 0; });
}

class Asking {
 public:
  Asking(const Request& request, const AskOptions& options)
      : options_(options), answer_{request, nullptr, std::vector<Predicted>()} {}

  Answer answer() && {
    std::visit([this](const auto& request) { ask(request); }, answer_.request);
    return std::move(answer_);
  }

 private:
  void ask(const PredictRequest& request);
  void ask(const SolveRequest& request);
  void ask(const ExplainRequest& request);
  void ask(const DiffRequest& asked);
  void ask(const RunRequest& request);

  const Case& load(const CaseRequest& request);
  /// With what AskOptions says of searches: threads, progress and the flag that calls it off.
  SolveOptions with_options(SolveOptions search) const;
  SolveLimits limits() const { return with_options({}).limits; }
  Strategy strategy(const std::string& name, SearchSettings search = {},
                    bool must_fit = false) const;
  Strategy with_configs(const std::string& name, const std::vector<Config>& configs) const;
  std::vector<Strategy> strategies(const PredictRequest& request) const;
  void doubt(const PredictRequest& request, const Prediction& prediction);
  void doubt_changes(const PredictRequest& request, const std::vector<Predicted>& all);
  ExplainedLayer explained_layer(const ExplainRequest& request, const Strategy& strategy,
                                 LayerId layer) const;
  void doubt_memory(const Solved& solved);
  void warn(const std::string& doubt);

  const AskOptions& options_;
  Answer answer_;
};

void Asking::warn(const std::string& doubt) {
  if (doubt.empty()) return;
  if (options_.warn) options_.warn(doubt);
  answer_.warnings.push_back(doubt);
}

const Case& Asking::load(const CaseRequest& request) {
  answer_.input = options_.input;
  if (!answer_.input) {
    CaseLoader of_its_own;
    CaseLoader& loader = options_.loader != nullptr ? *options_.loader : of_its_own;
    answer_.input = std::make_shared<const Case>(loader.load(request));
  }
  if (options_.loaded) options_.loaded(*answer_.input);
  if (options_.warnings == Warnings::none) return *answer_.input;
  for (const std::string& each : cost_warnings(*answer_.input)) warn(each);
  return *answer_.input;
}

SolveOptions Asking::with_options(SolveOptions search) const {
  if (options_.threads > 0) search.limits.threads = options_.threads;
  search.limits.cancelled = options_.cancelled;
  search.limits.progress = options_.searching;
  return search;
}

// The name says which objective the search has: `eq1`, or `optimal` by the simulated step.
Strategy Asking::strategy(const std::string& name, SearchSettings search, bool must_fit) const {
  const Case& input = *answer_.input;
  const std::optional<Objective> objective = searched_objective(name);
  if (!objective) return load_strategy(name, input, search.space);
  search.algorithm = SearchAlgorithm::elimination;
  search.no_simulation = false;
  search.k_best = 1;
  Searched found = search_for_best(input, with_options(solve_options(search, *objective)));
  if (must_fit && !found.none_fits.empty()) throw InputError(found.none_fits);
  return std::move(found.strategy);
}

Strategy Asking::with_configs(const std::string& name, const std::vector<Config>& configs) const {
  return resolve(Strategy(name, configs), *answer_.input);
}

std::vector<Strategy> Asking::strategies(const PredictRequest& request) const {
  if (!request.configs.empty()) return {with_configs(request.strategy, request.configs)};
  std::vector<Strategy> all;
  for (const std::string& name : names_in(request.strategy)) {
    all.push_back(strategy(name, request.search, request.must_fit));
  }
  return all;
}

void Asking::doubt(const PredictRequest& request, const Prediction& p) {
  const Case& input = *answer_.input;
  warn(idle_devices(p.strategy.name(), p.plan, input.cluster));
  if (const auto lacks = shortage(input, p.peak_memory)) {
    warn(fmt::format("{}: {}", p.strategy.name(), shortage_text(input, *lacks)));
  } else if (request.search.memory_limit && p.largest_peak() > *request.search.memory_limit) {
    const Bytes needs = p.largest_peak(), limit = *request.search.memory_limit;
    const bool alike = format_bytes(needs) == format_bytes(limit);
    const auto text = [&](Bytes bytes) {
      return alike ? fmt::format("{} B", bytes.value) : format_bytes(bytes);
    };
    warn(fmt::format("{}: a device needs {} of memory, more than `memory_limit` {}",
                     p.strategy.name(), text(needs), text(limit)));
  } else if (!p.peak_memory.empty()) {
    const MemoryNeed need = memory_need(input, p, request.search.memory_limit);
    if (need.fit() == MemoryFit::tight) {
      warn(fmt::format("{}: {}", p.strategy.name(), need_text(need)));
    }
  }
  warn(implausible(input, p.strategy, p.step_seconds()));
  if (request.jitter && !scatters(p)) warn("`jitter`: no cost has a measured spread");
}

void Asking::doubt_changes(const PredictRequest& request, const std::vector<Predicted>& all) {
  const std::vector<MachineChange> changes = machine_changes(request.input);
  for (const Predicted& each : all) {
    const Prediction& p = each.prediction;
    PredictOptions options = predict_options(request, *answer_.input, p.strategy);
    options.record_link_rates = false;
    options.cancelled = options_.cancelled;
    for (const Anomaly& found :
         anomalies(request.input, changes, p.strategy, p.step_seconds(), options)) {
      warn(fmt::format("{}: {}", p.strategy.name(), anomaly_text(found, p.step_seconds())));
    }
  }
}

void Asking::ask(const PredictRequest& request) {
  const Case& input = load(request.input);
  const std::vector<Strategy> asked = strategies(request);
  std::vector<Predicted> all;
  all.reserve(asked.size());
  for (const Strategy& each : asked) {
    all.push_back(predicted(request, input, each, options_.cancelled, options_.memo));
  }
  if (options_.warnings != Warnings::none && request.detail >= Detail::figures) {
    for (const Predicted& each : all) doubt(request, each.prediction);
    if (options_.warnings == Warnings::of_what_ifs) doubt_changes(request, all);
  }
  answer_.expected_error = expected_error(request.input, input);
  answer_.interval = step_interval(request.input, input);
  answer_.found = std::move(all);
}

// The answer, where a larger limit was set; the usual strategies, which are no answers then.
void Asking::doubt_memory(const Solved& solved) {
  const auto too_large = [this](const Scored& scored) {
    if (scored.fits) return;
    warn(fmt::format("{}: a device needs {} of memory, more than it has", scored.strategy.name(),
                     format_bytes(scored.peak_memory)));
  };
  for (const Scored& usual : solved.baselines) too_large(usual);
  const std::string& name = solved.best.front().strategy.name();
  const auto told = [&](const Scored& usual) { return usual.strategy.name() == name; };
  if (std::ranges::none_of(solved.baselines, told)) too_large(solved.best.front());
}

void check_kept(const SolveRequest& request) {
  if (!request.keep.empty() && request.strategy.empty() && request.configs.empty()) {
    throw InputError(
        fmt::format("`keep` {}: it needs the strategy whose cuts they keep; allowed: `strategy` S "
                    "beside it",
                    fmt::join(request.keep, ",")));
  }
  if (request.keep.empty() && !request.strategy.empty()) {
    throw InputError(
        fmt::format("`strategy` {}: solve looks for one; allowed: beside `keep` LAYER[,LAYER...], "
                    "the layers that keep its cuts",
                    request.strategy));
  }
}

void Asking::ask(const SolveRequest& request) {
  check_kept(request);
  SolveOptions options = with_options(solve_options(request.search, objective_of(request.search)));
  const Case& input = load(request.input);
  if (!request.keep.empty()) {
    const bool has_configs = !request.configs.empty();
    options.kept = {has_configs ? with_configs(request.strategy, request.configs)
                                : strategy(request.strategy, {.space = request.search.space}),
                    layers_named(input.graph, request.keep)};
  }
  Solved solved = solve(input, options);
  if (!solved.best.empty()) {
    doubt_memory(solved);
    const Scored& best = solved.best.front();
    if (best.simulated()) warn(implausible(input, best.strategy, best.step));
  }
  answer_.found = std::move(solved);
}

ExplainedLayer Asking::explained_layer(const ExplainRequest& request, const Strategy& strategy,
                                       LayerId layer) const {
  const Case& input = *answer_.input;
  ExplainedLayer result{strategy, layer, explain(input, request.space, strategy, layer, limits())};
  const Explanation& explanation = result.explanation;
  if (const auto other = explanation.best_other()) {
    const Contender own{strategy, explanation.step, explanation.work};
    const Contender best{with_choice(strategy, explanation, *other),
                         explanation.choices[*other].step, explanation.work};
    const BreakEvens found = break_evens(input, request.input, own, {best}, options_.cancelled);
    result.turns = found.turns.front();
    result.all_tried = found.all_tried;
  }
  return result;
}

void Asking::ask(const ExplainRequest& request) {
  const Case& input = load(request.input);
  const LayerId layer = request.layer.empty() ? LayerId() : find_layer(input.graph, request.layer);
  const Strategy asked = strategy(request.strategy, {.space = request.space});
  if (layer.valid()) {
    answer_.found = explained_layer(request, asked, layer);
    return;
  }
  answer_.found = tell(input, request.input, request.space, asked, limits());
}

void Asking::ask(const DiffRequest& asked) {
  const DiffRequest request = completed(asked);
  const Case& input = load(request.input);
  answer_.found = diff(input, strategy(request.before), strategy(request.after));
}

void Asking::ask(const RunRequest& request) {
  if (options_.runner == nullptr) throw EnvironmentError("no devices to run on");
  Runner& runner = *options_.runner;
  RunReport report = run(runner, request, options_.cancelled, options_.training);
  for (const std::string& each : report.doubts) warn(each);
  warn(idle_devices(report.strategy.name(), report.plan, report.cluster));
  answer_.found = RunAnswer{std::move(report), runner.description(request.devices)};
}

}  // namespace

PredictOptions predict_options(const PredictRequest& request, const Case& input,
                               const Strategy& strategy) {
  const bool timelines = request.detail == Detail::timelines;
  const bool whole = timelines && (request.however_large || is_traced_whole(input, strategy));
  PredictOptions options;
  options.steps = request.steps;
  options.devices =
      request.devices.value_or(whole ? Simulated::all_devices : Simulated::one_of_each_class);
  options.all_steps = whole;
  options.record_link_rates = whole && request.link_rates;
  options.memory = request.detail >= Detail::memory;
  options.eq1 = request.detail >= Detail::figures;
  options.breakdown = options.critical_path = request.detail >= Detail::parts;
  return options;
}

Predicted predicted(const PredictRequest& request, const Case& input, const Strategy& strategy,
                    const std::atomic<bool>* cancelled, CaseMemo* memo) {
  if (request.refuse_slow && !quick_to_simulate(input, strategy)) {
    throw InputError("simulating it takes too long");
  }
  PredictOptions options = predict_options(request, input, strategy);
  options.cancelled = cancelled;
  options.memo = memo;
  Predicted result{predict(input, strategy, options), {}};
  const Prediction& p = result.prediction;
  if (request.detail >= Detail::memory) {
    const Bytes limit = request.search.memory_limit.value_or(kAnyMemory);
    result.fits = limit == kAnyMemory ? !shortage(input, p.peak_memory) : p.largest_peak() <= limit;
  }
  if (request.jitter) result.jitter = predict_jitter(input, p, {*request.jitter});
  return result;
}

Answer ask(const Request& request, const AskOptions& options) {
  return Asking(request, options).answer();
}

}  // namespace strata
