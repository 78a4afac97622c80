#include "sim/scenario/settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/graph/finetuning.h"
#include "sim/graph/ops/limits.h"
#include "sim/graph/ops/phase.h"
#include "sim/graph/optimizer.h"
#include "sim/plan/collective.h"
#include "sim/scenario/decimal.h"
#include "sim/strategy/hybrid.h"
#include "sim/strategy/recomputation.h"
#include "sim/strategy/schedule.h"
#include "sim/strategy/search_space.h"
#include "sim/text/units.h"

namespace strata {
namespace {

constexpr std::array kEveryJob = {Job::predict, Job::solve, Job::run};
constexpr std::array kSimulated = {Job::predict, Job::solve};
constexpr std::array kOfOneStrategy = {Job::predict, Job::run};
constexpr std::array kSolve = {Job::solve};
constexpr std::array kRun = {Job::run};

constexpr std::array<std::string_view, 5> kStrategies = {"data", "model", "owt", "eq1", "optimal"};
constexpr std::array<std::string_view, 2> kPlacements = {"first", "hosts"};
constexpr std::array<std::string_view, 2> kFlag = {"false", "true"};
constexpr std::span<const std::string_view> kNoWords;

// A batch of this size already makes numbers of samples and bytes that 64 bits hold and no machine.
constexpr std::int64_t kMostSamples = std::int64_t{1} << 30;
constexpr std::int64_t kMostGroup = std::int64_t{1} << 20;
// Every task of a simulated step is kept; of a step that is run, nothing is.
constexpr std::int64_t kMostSimulatedSteps = 1000, kMostRunSteps = 100'000'000;
// What a double holds exactly, so that a seed is the same after JSON.
constexpr std::int64_t kMostSeed = std::int64_t{1} << 53;
constexpr std::int64_t kMostStrategies = 10'000, kMostEvaluations = 1'000'000, kMostThreads = 1024;

// What float32 holds, in which runs compute.
constexpr double kMostRate = std::numeric_limits<float>::max();

constexpr auto kSettings = std::to_array<SettingSpec>({
    {"model", ValueForm::text, kEveryJob, "MODEL",
     "a name (strata models), or a .toml or .onnx file"},
    {"dim", ValueForm::dims, kEveryJob, "NAME=N",
     "the number of a dim that an .onnx file leaves open, by its name there, as height=224; "
     "several with commas between; repeatable"},
    {"seq", ValueForm::positive, kEveryJob, "",
     "tokens of a sequence, of a transformer that comes with Strata: gpt2 with 256 is "
     "gpt2:seq=256",
     kNoWords, kMaxExtent},
    {"cluster", ValueForm::text, kSimulated, "CLUSTER", "a name (strata clusters) or a .toml file"},
    {"devices", ValueForm::text, kRun, "DEVICES",
     "cpu:N, N cores of this machine, a device each; cuda:0,1, GPUs by number; cuda:0/N, GPU 0 "
     "standing for N devices"},
    {"batch", ValueForm::positive, kEveryJob, "", "samples of a step, over all devices", kNoWords,
     kMostSamples},
    {"batch_per_device", ValueForm::positive, kEveryJob, "",
     "samples per device instead (default 32)", kNoWords, kMostSamples},
    {"strategy", ValueForm::strategy, kOfOneStrategy, "STRATEGY",
     "data, model, owt, hybrid:tp=T[,sp=1][,cp=C[,cp_by=heads]][,ep=E[,etp=T]][,pp=P[,vp=V|v]] (T "
     "devices share "
     "each product, C the tokens, P the layers, the rest the samples), eq1 (the least time under "
     "Eq. 1), optimal "
     "(the fastest simulated step that a search finds) or a .json file",
     kStrategies},
    {"sync", ValueForm::choice, kEveryJob, "HOW",
     "how replicas sum gradients: ps (a parameter server on one of them, as in the paper), ring, "
     "tree, hierarchical, or auto, the cheapest of these for each sum (default ring)",
     kSyncNames},
    {"bucket", ValueForm::size, kEveryJob, "BYTES",
     "sum gradients once those of whole layers reach so many bytes, as \"25 MiB\"; 0: each layer's "
     "by itself, as ps always does (default 25 MiB, the first 1 MiB, as PyTorch's "
     "DistributedDataParallel; auto then chooses among ring, tree and hierarchical)"},
    {"zero", ValueForm::choice, kEveryJob, "STAGE",
     "what replicas share, a part each, instead of each having all of it: 1 the optimizer's state, "
     "2 also their gradients, 3 also the parameters, which each pass then gathers (ZeRO, FSDP; "
     "default 0)",
     kZeroNames},
    {"zero_group", ValueForm::natural, kEveryJob, "N",
     "replicas share in groups of N, in order, or of the largest divisor of their number below it; "
     "groups sum what each replica keeps of the gradients (HSDP, hybrid_shard; default 0, all)",
     kNoWords, kMostGroup},
    {"offload", ValueForm::choice, kSimulated, "WHAT",
     "what hosts keep in their memory for their devices: none, or optimizer, its state and the "
     "update, which gets gradients and gives parameters back (ZeRO-Offload; default none)",
     kOffloadNames},
    {"dtype", ValueForm::choice, kSimulated, "TYPE",
     "fp32, tf32, bf16 or fp16, or of products alone fp8, fp8-block, mxfp8 or nvfp4 (default fp32)",
     kDTypeNames},
    {"gradients", ValueForm::choice, kSimulated, "TYPE",
     "what gradients of parameters are kept, added up and summed in: fp32 or bf16 (default as "
     "parameters, in `dtype`)",
     kGradientTypeNames},
    {"optimizer", ValueForm::choice, kEveryJob, "RULE",
     "how a step updates parameters: sgd, momentum and lion, which keep a number of each, or adam "
     "and adamw, which keep two (default sgd)",
     kOptimizerNames},
    {"micro_batch", ValueForm::positive, kEveryJob, "",
     "cut the batch in time: samples of a round for each data-parallel group; rounds add their "
     "gradients up (default one round)",
     kNoWords, kMostSamples},
    {"schedule", ValueForm::text, kEveryJob, "ORDER",
     "in which order stages compute rounds: gpipe, 1f1b, interleaved, zb-h1, zb-v or a .csv file "
     "(default 1f1b; interleaved or zb-v where stages have several chunks)"},
    {"overlap", ValueForm::choice, kEveryJob, "WHAT",
     "what of a step computes while another part waits: none, or experts, a forward pass beside "
     "the "
     "backward pass before it, of another micro-batch, as tokens go to experts and back (default "
     "none)",
     kPassOverlapNames},
    {"recompute", ValueForm::choice, kEveryJob, "WHAT",
     "what is computed again for the backward pass, not kept: none, selective (attentions that "
     "keep their scores) or full (all of a block but what it reads; default none)",
     kRecomputeNames},
    {"train", ValueForm::training, kEveryJob, "WHAT",
     "which parameters a step trains: full (all), lora:r=R[,alpha=A][,targets=attention|all|"
     "NAME+NAME][,dtype=nf4|int8][,also=LAYER+LAYER] (adapters of rank R beside products, and "
     "layers that begin as `also` says; all other weights stay as they are, in fewer bits where a "
     "dtype says so; alpha is 2 R, targets those of attention), or frozen:LAYER[+LAYER] (all but "
     "those of layers that begin so; default full)"},
    {"as", ValueForm::text, kSimulated, "FRAMEWORK",
     "run as a framework does: a name (strata frameworks) or a .toml file; docs/frameworks.md has "
     "what each sets (default none)"},
    {"profile", ValueForm::files, kEveryJob, "FILE",
     "a .toml file (strata profile writes them) in place of the profile that ships for its kind "
     "of device; repeatable"},
    {"memory_limit", ValueForm::size, kSimulated, "BYTES",
     "bytes that a device may need at its peak, or as \"12 GiB\" (default what it has)"},
    {"jitter", ValueForm::natural, kSimulated, "",
     "also draw every task's time from its measured spread, with this seed: the median step and "
     "the 95th percentile",
     kNoWords, kMostSeed},
    {"steps", ValueForm::positive, kEveryJob, "", "how many steps to simulate (default 4)",
     kNoWords, kMostSimulatedSteps, kMostRunSteps},
    {"degrees", ValueForm::choice, kEveryJob, "DEGREES",
     "degrees that a dim may have: pow2, divisors (of the device count) or all (default pow2, or "
     "divisors where the device count is no power of two)",
     kDegreeSetNames},
    {"reductions", ValueForm::choice, kEveryJob, "LAYERS",
     "layers that a search may also cut in r, their input channels: none, fc (fully-connected "
     "ones) or all, which adds convolutions (default fc)",
     kReductionCutsNames},
    {"objective", ValueForm::choice, kSolve, "OBJECTIVE",
     "what is searched for: the least simulated step, or the least time under Eq. 1, where nothing "
     "overlaps: simulated or eq1 (default simulated)",
     kObjectiveNames},
    {"warmup", ValueForm::natural, kRun, "",
     "how many of the first steps are not timed (default 1, of a single step 0)", kNoWords,
     kMostRunSteps},
    {"lr", ValueForm::rate, kRun, "X", "the learning rate (default 0.01)"},
    {"beta1", ValueForm::rate, kRun, "X",
     "momentum, or the decay rate of the first moment of adam and adamw; of lion, the weight of "
     "its momentum in a step (default 0.9)"},
    {"beta2", ValueForm::rate, kRun, "X",
     "decay rate of the second moment of adam and adamw (default 0.999), or of lion's momentum "
     "(default 0.99)"},
    {"epsilon", ValueForm::rate, kRun, "X",
     "what adam and adamw add to the root of the second moment (default 1e-8)"},
    {"weight_decay", ValueForm::rate, kRun, "X",
     "L2 penalty of sgd, momentum and adam; decoupled of adamw and lion (default 0, of adamw "
     "0.01)"},
    {"seed", ValueForm::natural, kRun, "",
     "of initial weights, synthetic data and dropout (default 0)", kNoWords, kMostSeed},
    {"layers", ValueForm::flag, kSimulated, "", "keep each layer's config and costs", kFlag},
    {"allow_unsupported", ValueForm::flag, kSimulated, "",
     "take ops of an .onnx file that are not read for opaque ones, at the cost of their bytes",
     kFlag},
    // Of the command line alone.
    {"algorithm",
     ValueForm::choice,
     {},
     "ALGORITHM",
     "elimination, or dfs: the paper's depth-first search (default elimination)",
     kAlgorithmNames},
    {"placement",
     ValueForm::choice,
     {},
     "WHERE",
     "first: shards row-major on the first devices; hosts: also with another dim across the hosts "
     "(default first)",
     kPlacements},
    {"free_elementwise",
     ValueForm::flag,
     {},
     "",
     "let element-wise layers differ from their producer",
     kFlag},
    {"k_best",
     ValueForm::positive,
     {},
     "",
     "find the K best strategies (default 1)",
     kNoWords,
     kMostStrategies},
    {"evaluations",
     ValueForm::positive,
     {},
     "",
     "how many strategies `objective` simulated may simulate (default 200 to 2000, by how many "
     "choices all layers have, and fewer where simulations take long); at least its starting "
     "points",
     kNoWords,
     kMostEvaluations},
    {"gap",
     ValueForm::rate,
     {},
     "X",
     "stop a search under simulation once it is proved that no strategy saves more than this part "
     "of the step, as 0.02 (default 0)"},
    {"no_simulation",
     ValueForm::flag,
     {},
     "",
     "give Eq. 1 times alone, with `objective` eq1: quick where a simulation takes long; memory is "
     "not checked",
     kFlag},
    {"time_limit",
     ValueForm::seconds,
     {},
     "SECONDS",
     "seconds after which the best until then that was simulated and fits is given, with its gap"},
    {"threads",
     ValueForm::positive,
     {},
     "",
     "how many cores to use (default all)",
     kNoWords,
     kMostThreads},
    {"tolerance",
     ValueForm::rate,
     {},
     "X",
     "let `check` allow this relative difference after the training, not what rounding does"},
});

// Else no number would do.
static_assert(std::ranges::all_of(kSettings, [](const SettingSpec& setting) {
  return (setting.form != ValueForm::positive && setting.form != ValueForm::natural) ||
         setting.most > 0;
}));

constexpr SettingSpec kWhatIf = {"set", ValueForm::free, kSimulated, "KEY=VALUE",
                                 "a what-if, KEY=VALUE"};

[[noreturn]] void refuse_text(const Value& value, std::string_view expected,
                              std::string_view text) {
  value.fail(fmt::format("'{}' must be {}; it is {}", value.name(), expected, text));
}

std::optional<std::int64_t> integer_in(WholeRange range, std::string_view text) {
  std::int64_t integer = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, integer);
  const bool whole = error == std::errc() && stop == end;
  if (whole && integer >= range.least && integer <= range.most) return integer;
  return std::nullopt;
}

void check_integer(const Value& value, const std::string& text, WholeRange range) {
  if (integer_in(range, text)) return;
  refuse_text(value, fmt::format("an integer from {} to {}", range.least, range.most), text);
}

// Of a range, whose numbers are decimals of any size.
void check_rate(const Value& value, const std::string& text) {
  double rate = -1;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, rate);
  if (error == std::errc() && stop == end && rate >= 0 && rate <= kMostRate) return;
  refuse_text(value, fmt::format("a number from 0 to {:g}", kMostRate), text);
}

void check_word(const SettingSpec& setting, const Value& value, const std::string& text) {
  if (std::ranges::find(setting.choices, text) != setting.choices.end()) return;
  const bool file = setting.form == ValueForm::strategy;
  if (file && text.ends_with(".json")) return;
  if (file && is_hybrid(text)) {
    try {
      parse_hybrid(text);
      return;
    } catch (const InputError& error) {
      value.fail(error.message());
    }
  }
  value.fail(fmt::format("unknown {} \"{}\"; allowed: {}{}", setting.key, text,
                         fmt::join(setting.choices, ", "),
                         file ? fmt::format(", {}, or a .json file", kHybridForm) : ""));
}

// As `parse` takes it.
template <class Parse>
void check_parsed(const Value& value, const std::string& text, const Parse& parse) {
  try {
    parse(text);
  } catch (const InputError& error) {
    value.fail(fmt::format("'{}': {}", value.name(), error.message()));
  }
}

template <class Read>
auto naming(const SettingSpec& setting, const Read& read) try {
  return read();
} catch (InputError& error) {
  error.add_context(fmt::format("`{}`", setting.key));
  throw;
}

std::string number_text(const Value& value) {
  if (value.is(ValueKind::integer)) return fmt::format("{}", value.as_integer());
  return print(decimal_of(value.as_number()));
}

std::string text_or_number(const Value& value, std::string_view expected) {
  switch (value.kind()) {
    case ValueKind::string:
      return value.as_string();
    case ValueKind::integer:
    case ValueKind::number:
      return number_text(value);
    default:
      value.fail_expected(expected);
  }
}

std::string whole_text(const Value& value, WholeRange range) {
  return fmt::format("{}", value.as_integer(range.least, range.most));
}

std::string unchecked_text(const SettingSpec& setting, const Value& value, Job job) {
  switch (setting.form) {
    case ValueForm::positive:
    case ValueForm::natural:
      return whole_text(value, whole_range(setting, job));
    case ValueForm::rate:
      value.as_number(0, kMostRate);  // throws for others
      return number_text(value);
    case ValueForm::flag:
      return value.as_boolean() ? "true" : "false";
    case ValueForm::size:
      return text_or_number(value, "a size, as \"16 GiB\"");
    case ValueForm::free:
      return text_or_number(value, "a text, a number, a range or a list of them");
    default:
      return value.as_string();
  }
}

}  // namespace

std::span<const SettingSpec> settings() {
  return kSettings;
}
const SettingSpec* find_setting(std::string_view key) {
  if (key == kWhatIf.key) return &kWhatIf;
  const auto* const found = std::ranges::find(kSettings, key, &SettingSpec::key);
  return found == kSettings.end() ? nullptr : found;
}
const SettingSpec& setting(std::string_view key) {
  if (const SettingSpec* const found = find_setting(key)) return *found;
  throw InternalError(fmt::format("there is no setting '{}'", key));
}
const SettingSpec& what_if_setting() {
  return kWhatIf;
}
std::span<const Job> jobs() {
  return kEveryJob;
}

bool goes_with(const SettingSpec& setting, Job job) {
  return std::ranges::find(setting.jobs, job) != setting.jobs.end();
}

WholeRange whole_range(const SettingSpec& setting, Job job) {
  const bool more = job == Job::run && setting.most_of_run > 0;
  return {setting.form == ValueForm::positive ? 1 : 0, more ? setting.most_of_run : setting.most};
}

bool is_numeric(ValueForm form) {
  return form == ValueForm::positive || form == ValueForm::natural || form == ValueForm::rate;
}

std::string read_single(const SettingSpec& setting, const Value& value, Job job) {
  std::string text = unchecked_text(setting, value, job);
  check_text(setting, value, text, job);
  return text;
}

void check_text(const SettingSpec& setting, const Value& value, const std::string& text, Job job) {
  if (text.empty()) value.fail(fmt::format("'{}' must not be empty", value.name()));
  switch (setting.form) {
    case ValueForm::choice:
    case ValueForm::strategy:
      return check_word(setting, value, text);
    case ValueForm::files:
      if (text.find(',') == std::string::npos) return;
      return refuse_text(value, "a file's name without a comma", text);
    case ValueForm::size:
      return check_parsed(value, text, parse_bytes);
    case ValueForm::dims:
      return check_parsed(value, text, parse_open_dims);
    case ValueForm::training:
      return check_parsed(value, text, parse_finetuning);
    case ValueForm::positive:
    case ValueForm::natural:
      return check_integer(value, text, whole_range(setting, job));
    case ValueForm::rate:
      return check_rate(value, text);
    default:
      return;
  }
}

std::size_t read_place(const SettingSpec& setting, std::string_view text) {
  const auto at = std::ranges::find(setting.choices, text);
  if (at != setting.choices.end()) return static_cast<std::size_t>(at - setting.choices.begin());
  throw InputError(fmt::format("`{}` {}: unknown; allowed: {}", setting.key, text,
                               fmt::join(setting.choices, ", ")));
}

std::int64_t read_whole(const SettingSpec& setting, std::string_view text, Job job) {
  const WholeRange range = whole_range(setting, job);
  if (const auto number = integer_in(range, text)) return *number;
  throw InputError(fmt::format("`{}`: '{}' is no whole number from {} to {}", setting.key, text,
                               range.least, range.most));
}

double read_rate(const SettingSpec& setting, std::string_view text) try {
  const bool time = setting.form == ValueForm::seconds;
  const double value = parse_number(text, time ? "number of seconds" : "number");
  if (value < 0) throw InputError(fmt::format("'{}' is below zero", text));
  if (time || value <= kMostRate) return value;
  throw InputError(fmt::format("'{}' is more than {:g}, what float32 holds", text, kMostRate));
} catch (const InputError& error) {
  throw InputError(
      fmt::format("`{}`: {}; allowed: a number of at least 0", setting.key, error.message()));
}

Bytes read_size(const SettingSpec& setting, std::string_view text) {
  return naming(setting, [&] { return parse_bytes(text); });
}

OpenDims read_dims(const SettingSpec& setting, std::string_view text) {
  return naming(setting, [&] { return parse_open_dims(text); });
}

}  // namespace strata
