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
#include "sim/search/search_settings.h"
#include "sim/train/run.h"

namespace strata {

/// What a prediction tells. Each tells what those before it do, and takes longer.
enum class Detail : std::uint8_t {
  step,       ///< how long it takes, alone
  memory,     ///< the peak of each device's memory
  figures,    ///< Eq. 1, too
  parts,      ///< the critical path, and what a device's step is made of
  timelines,  ///< what each device does when
};

struct PredictRequest {
  CaseRequest input;
  std::string strategy;  ///< or several, with commas between
  /// The config of each layer, of a strategy that stands in no file; `strategy` is its name then.
  std::vector<Config> configs = {};
  std::size_t steps = 4;
  std::optional<std::uint64_t> jitter = {};  ///< a seed: steps are drawn, too (Jitter)
  /// How eq1 and optimal are searched for; their names say the objective. A prediction fits within
  /// its memory_limit; without one, and with kAnyMemory, within the devices' memory.
  SearchSettings search;
  Detail detail = Detail::parts;
  /// Which devices are simulated. By default one of each class; for timelines all of them, unless
  /// the trace would be too large.
  std::optional<Simulated> devices = {};
  bool link_rates = false;     ///< of timelines
  bool however_large = false;  ///< timelines of all steps, even if the trace is too large
  bool must_fit = false;       ///< what is searched for; else the nearest will do
  bool refuse_slow = false;    ///< InputError for a strategy that takes long to simulate
};

struct SolveRequest {
  CaseRequest input;
  SearchSettings search;
  std::vector<std::string> keep;             ///< layers that stay as
  std::string strategy;                      ///< this one cuts them; both, or neither
  std::vector<Config> configs = {};          ///< as those of PredictRequest
  std::size_t steps = 4;                     ///< of the prediction of the best that a row has
  std::optional<std::uint64_t> jitter = {};  ///< likewise
};

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
requires std::same_as<std::remove_const_t<Any>, SearchSettings>
void each_setting(Any& search, const Visit& visit) {
  visit("memory_limit", search.memory_limit);
  each_setting(search.space, visit);
  visit("objective", search.objective);
  visit("algorithm", search.algorithm);
  visit("k_best", search.k_best);
  visit("evaluations", search.evaluations);
  visit("gap", search.gap);
  visit("no_simulation", search.no_simulation);
  visit("time_limit", search.time_limit);
  visit("threads", search.threads);
}

template <class Any, class Visit>
requires std::same_as<std::remove_const_t<Any>, PredictRequest>
void each_setting(Any& request, const Visit& visit) {
  each_setting(request.input, visit);
  visit("strategy", request.strategy);
  visit("memory_limit", request.search.memory_limit);
  visit("jitter", request.jitter);
  visit("steps", request.steps);
  each_setting(request.search.space, visit);
}

template <class Any, class Visit>
requires std::same_as<std::remove_const_t<Any>, SolveRequest>
void each_setting(Any& request, const Visit& visit) {
  each_setting(request.input, visit);
  each_setting(request.search, visit);
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
