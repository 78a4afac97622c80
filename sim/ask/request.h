#pragma once

// What can be asked of a case, a value for each kind of question, and the settings of each by key
// (sim/scenario/settings.h). Values; thread-safe.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "sim/case/case_settings.h"
#include "sim/scenario/scenario.h"
#include "sim/search/solve.h"
#include "sim/train/run.h"

namespace strata {

/// What a prediction tells. Each tells what those before it do, and takes longer.
enum class Detail : std::uint8_t {
  step,       ///< how long it takes, alone
  figures,    ///< communication, memory and Eq. 1
  parts,      ///< the critical path, and what a device's step is made of
  timelines,  ///< what each device does when; of one of each class where a trace would be too large
  all_timelines,
};

struct PredictRequest {
  CaseRequest input;
  std::string strategy;  ///< or several, with commas between
  std::size_t steps = 4;
  std::optional<std::uint64_t> jitter;  ///< a seed: steps are drawn, too (Jitter)
  std::optional<Bytes> memory_limit;    ///< of what fits; without it, what devices have
  SearchOptions space;                  ///< of the strategies eq1 and optimal
  Detail detail = Detail::parts;
  bool all_devices = false;  ///< simulates each, also where others do the same
  bool link_rates = false;   ///< of timelines
  bool must_fit = false;     ///< what is searched for; else the nearest will do
};

struct SolveRequest {
  CaseRequest input;
  SolveOptions options;
  bool no_simulation = false;
  std::optional<Objective> objective;   ///< without it, the simulated step where it is simulated
  std::string keep;                     ///< layers, with commas between, that stay as
  std::string strategy;                 ///< this one cuts them; both, or neither
  std::size_t steps = 4;                ///< of the prediction of the best that a row has
  std::optional<std::uint64_t> jitter;  ///< likewise
};

/// What it is searched by: what has no simulation, under Eq. 1.
Objective objective_of(const SolveRequest& request);
/// Of the layers that stay as they are.
std::vector<std::string> kept_names(const SolveRequest& request);

struct ExplainRequest {
  CaseRequest input;
  std::string strategy = "optimal";
  std::string layer;  ///< whose configs are compared; without it, the whole step is explained
  SearchOptions space;
};

struct DiffRequest {
  CaseRequest input;
  std::string before, after;  ///< strategies
};

using Request = std::variant<PredictRequest, SolveRequest, ExplainRequest, DiffRequest, RunRequest>;

/// The case that it is about; of a run, that of its devices.
const CaseRequest& case_of(const Request& request);

/// Whether a setting's value is the name of a file.
bool names_file(const std::string& value);

/// What a command of this name (predict, solve, explain, diff, run) is asked by these settings.
/// What-ifs are "set.KEY"; files are named as seen from `folder`. Throws InputError that names the
/// setting.
Request understand(std::string_view command, std::span<const Setting> settings,
                   const std::string& folder = {});

// Calls visit(key, value) for each setting of a request; what-ifs come besides. Keys that are none
// of settings() are options of their command alone.

template <class Any, class Visit>
requires std::same_as<std::remove_const_t<Any>, SearchOptions>
void each_setting(Any& space, const Visit& visit) {
  visit("degrees", space.degrees);
  visit("reductions", space.reductions);
  visit("placement", space.host_placement);
  visit("free_elementwise", space.free_elementwise);
}

template <class Any, class Visit>
requires std::same_as<std::remove_const_t<Any>, PredictRequest>
void each_setting(Any& request, const Visit& visit) {
  each_setting(request.input, visit);
  visit("strategy", request.strategy);
  visit("memory_limit", request.memory_limit);
  visit("jitter", request.jitter);
  visit("steps", request.steps);
  each_setting(request.space, visit);
}

template <class Any, class Visit>
requires std::same_as<std::remove_const_t<Any>, SolveRequest>
void each_setting(Any& request, const Visit& visit) {
  each_setting(request.input, visit);
  visit("memory_limit", request.options.memory_limit);
  each_setting(request.options.space, visit);
  visit("objective", request.objective);
  visit("algorithm", request.options.algorithm);
  visit("k_best", request.options.k_best);
  visit("evaluations", request.options.evaluations);
  visit("gap", request.options.gap);
  visit("no_simulation", request.no_simulation);
  visit("time_limit", request.options.limits.time_limit);
  visit("threads", request.options.limits.threads);
  visit("steps", request.steps);
  visit("jitter", request.jitter);
  visit("keep", request.keep);
  visit("strategy", request.strategy);
}

template <class Any, class Visit>
requires std::same_as<std::remove_const_t<Any>, ExplainRequest>
void each_setting(Any& request, const Visit& visit) {
  each_setting(request.input, visit);
  visit("strategy", request.strategy);
  visit("layer", request.layer);
  each_setting(request.space, visit);
}

template <class Any, class Visit>
requires std::same_as<std::remove_const_t<Any>, DiffRequest>
void each_setting(Any& request, const Visit& visit) {
  each_setting(request.input, visit);
  visit("before", request.before);
  visit("after", request.after);
}

template <class Any, class Visit>
requires std::same_as<std::remove_const_t<Any>, RunRequest>
void each_setting(Any& request, const Visit& visit) {
  visit("model", request.input.model);
  visit("dim", request.input.dims);
  visit("seq", request.input.seq);
  visit("devices", request.devices);
  visit("strategy", request.strategy);
  each_setting(request.input.training, visit);
  visit("profile", request.input.profiles);
  each_setting(request.space, visit);
  visit("steps", request.steps);
  visit("warmup", request.warmup);
  visit("lr", request.learning_rate);
  visit("beta1", request.constants.beta1);
  visit("beta2", request.constants.beta2);
  visit("epsilon", request.constants.epsilon);
  visit("weight_decay", request.constants.weight_decay);
  visit("seed", request.seed);
  visit("data", request.data);
  visit("test_data", request.test_data);
  visit("weights", request.weights);
  visit("check", request.check);
  visit("tolerance", request.tolerance);
  visit("serial", request.serial);
  visit("graph", request.recorded);
}

}  // namespace strata
