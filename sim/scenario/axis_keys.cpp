#include "sim/scenario/axis_keys.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include <fmt/format.h>

#include "sim/scenario/decimal.h"
#include "sim/text/units.h"

namespace strata {
namespace {

constexpr std::array kEveryJob = {Job::predict, Job::solve, Job::run};
constexpr std::array kSimulated = {Job::predict, Job::solve};
constexpr std::array kOfOneStrategy = {Job::predict, Job::run};
constexpr std::array kSolve = {Job::solve};
constexpr std::array kRun = {Job::run};

constexpr std::array<std::string_view, 4> kStrategies = {"data", "model", "owt", "optimal"};
constexpr std::array<std::string_view, 5> kSyncs = {"ps", "ring", "tree", "hierarchical", "auto"};
constexpr std::array<std::string_view, 4> kDTypes = {"fp32", "tf32", "bf16", "fp16"};
constexpr std::array<std::string_view, 3> kDegrees = {"pow2", "divisors", "all"};
constexpr std::array<std::string_view, 2> kObjectives = {"eq1", "simulated"};

constexpr std::array<AxisKey, 18> kKeys = {{
    {"model", ValueForm::text, kEveryJob, {}},
    {"cluster", ValueForm::text, kSimulated, {}},
    {"devices", ValueForm::text, kRun, {}},
    {"batch", ValueForm::positive, kEveryJob, {}},
    {"batch_per_device", ValueForm::positive, kEveryJob, {}},
    {"strategy", ValueForm::strategy, kOfOneStrategy, kStrategies},
    {"sync", ValueForm::choice, kEveryJob, kSyncs},
    {"dtype", ValueForm::choice, kSimulated, kDTypes},
    {"profile", ValueForm::files, kEveryJob, {}},
    {"memory_limit", ValueForm::size, kSimulated, {}},
    {"jitter", ValueForm::natural, kSimulated, {}},
    {"steps", ValueForm::positive, kEveryJob, {}},
    {"degrees", ValueForm::choice, kEveryJob, kDegrees},
    {"objective", ValueForm::choice, kSolve, kObjectives},
    {"lr", ValueForm::rate, kRun, {}},
    {"seed", ValueForm::natural, kRun, {}},
    {"layers", ValueForm::flag, kSimulated, {}},
    {"allow_unsupported", ValueForm::flag, kSimulated, {}},
}};

constexpr AxisKey kWhatIf = {"set", ValueForm::free, kSimulated, {}};

[[noreturn]] void refuse_text(const Value& value, std::string_view expected,
                              std::string_view text) {
  value.fail(fmt::format("'{}' must be {}; it is {}", value.name(), expected, text));
}

void check_integer(const Value& value, const std::string& text, std::int64_t least) {
  std::int64_t integer = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, integer);
  if (error == std::errc() && stop == end && integer >= least) return;
  refuse_text(value, fmt::format("an integer of at least {}", least), text);
}

void check_word(const AxisKey& key, const Value& value, const std::string& text) {
  if (std::ranges::find(key.choices, text) != key.choices.end()) return;
  const bool file = key.form == ValueForm::strategy;
  if (file && text.ends_with(".json")) return;
  value.fail(fmt::format("unknown {} \"{}\"; allowed: {}{}", key.key, text,
                         fmt::join(key.choices, ", "), file ? ", or a .json file" : ""));
}

void check_size(const Value& value, const std::string& text) {
  try {
    parse_bytes(text);
  } catch (const InputError& error) {
    value.fail(fmt::format("'{}': {}", value.name(), error.message()));
  }
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

std::string unchecked_text(const AxisKey& key, const Value& value) {
  switch (key.form) {
    case ValueForm::positive:
    case ValueForm::natural:
      return fmt::format("{}", value.as_integer(key.form == ValueForm::positive ? 1 : 0));
    case ValueForm::rate:
      value.as_number(0);  // throws for others
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

std::span<const AxisKey> axis_keys() {
  return kKeys;
}
const AxisKey& what_if_key() {
  return kWhatIf;
}
std::span<const Job> jobs() {
  return kEveryJob;
}

bool goes_with(const AxisKey& key, Job job) {
  return std::ranges::find(key.jobs, job) != key.jobs.end();
}

bool is_numeric(ValueForm form) {
  return form == ValueForm::positive || form == ValueForm::natural || form == ValueForm::rate;
}

std::string read_single(const AxisKey& key, const Value& value) {
  std::string text = unchecked_text(key, value);
  check_text(key, value, text);
  return text;
}

void check_text(const AxisKey& key, const Value& value, const std::string& text) {
  if (text.empty()) value.fail(fmt::format("'{}' must not be empty", value.name()));
  switch (key.form) {
    case ValueForm::choice:
    case ValueForm::strategy:
      return check_word(key, value, text);
    case ValueForm::files:
      if (text.find(',') == std::string::npos) return;
      return refuse_text(value, "a file's name without a comma", text);
    case ValueForm::size:
      return check_size(value, text);
    case ValueForm::positive:
    case ValueForm::natural:
      return check_integer(value, text, key.form == ValueForm::positive ? 1 : 0);
    case ValueForm::rate:
      if (text.starts_with('-')) refuse_text(value, "a number of at least 0", text);
      return;
    default:
      return;
  }
}

}  // namespace strata
