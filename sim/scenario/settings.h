#pragma once

// The settings of a study, once each: what it is called, what it is for, what its values are, and
// which jobs of a scenario it goes with. Scenario files, the command line, its manual and
// completions, and the desktop program read them here. A message names a setting by its key
// between backticks (`memory_limit`), which the command line shows as its option. What a model's or
// a cluster's name may be, and the keys of [sweep.set] (what-ifs), belong to others. Thread-safe.

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sim/base/units.h"
#include "sim/graph/open_dims.h"
#include "sim/scenario/scenario.h"
#include "sim/text/split.h"
#include "sim/text/units.h"
#include "sim/text/value.h"

namespace strata {

enum class ValueForm : std::uint8_t {
  text,      ///< not empty
  choice,    ///< one of a few words
  strategy,  ///< one of a few words, or a .json file
  files,     ///< names of files, without commas
  dims,      ///< NAME=NUMBER, several with commas between
  training,  ///< as parse_finetuning() takes it
  size,      ///< bytes: "8 GiB", or an integer
  positive,  ///< an integer of at least 1
  natural,   ///< an integer of at least 0
  rate,      ///< a number of at least 0
  seconds,   ///< the same
  flag,      ///< true or false
  free,      ///< a text or a number
};

/// What a whole number may be.
struct WholeRange {
  std::int64_t least = 0, most = 0;
};

struct SettingSpec {
  std::string_view key;
  ValueForm form = ValueForm::text;
  std::span<const Job> jobs;     ///< none: not of scenarios
  std::string_view placeholder;  ///< for its value in a manual: "TYPE"; empty for a number's
  std::string_view help;         ///< what it is for, its values and the usual one
  std::span<const std::string_view> choices = {};  ///< in the order of the enumeration they name
  std::int64_t most = 0;                           ///< of a whole number
  std::int64_t most_of_run = 0;                    ///< where a run may have more; else 0
};

/// In the order of a case's settings. Those of [sweep.set] follow them.
std::span<const SettingSpec> settings();
/// Null for a key that is none.
const SettingSpec* find_setting(std::string_view key);
/// Throws InternalError for a key that is none.
const SettingSpec& setting(std::string_view key);
/// Of the values of [sweep.set].
const SettingSpec& what_if_setting();

bool goes_with(const SettingSpec& setting, Job job);

/// Of a setting whose values are whole numbers, wherever they come from.
WholeRange whole_range(const SettingSpec& setting, Job job);

/// All jobs in their order.
std::span<const Job> jobs();

/// Whether the values are numbers, which a range may stand for without a unit or a form.
bool is_numeric(ValueForm form);

/// The text of one value, checked. Throws InputError.
std::string read_single(const SettingSpec& setting, const Value& value, Job job = Job::predict);
/// A text that `value`, a range or a list, stands for.
void check_text(const SettingSpec& setting, const Value& value, const std::string& text, Job job);

// What only a setting has values for.
enum class SearchAlgorithm : std::uint8_t { elimination, dfs };
inline constexpr std::array<std::string_view, 2> kAlgorithmNames = {"elimination", "dfs"};
enum class Objective : std::uint8_t { eq1, simulated };
inline constexpr std::array<std::string_view, 2> kObjectiveNames = {"eq1", "simulated"};

// A setting's text as its value. All throw InputError that names the setting and what is allowed.

std::size_t read_place(const SettingSpec& setting, std::string_view text);
/// In decimal digits.
std::int64_t read_whole(const SettingSpec& setting, std::string_view text, Job job);
/// A finite number of at least 0.
double read_rate(const SettingSpec& setting, std::string_view text);
Bytes read_size(const SettingSpec& setting, std::string_view text);
OpenDims read_dims(const SettingSpec& setting, std::string_view text);

/// What has a place among the choices: an enumerator, or the second of two for true.
template <class Value>
concept Choice = std::is_enum_v<Value> || std::same_as<Value, bool>;

template <class Value>
void read_setting(std::string_view key, std::string_view text, Value& value,
                  Job job = Job::predict) {
  const SettingSpec& spec = setting(key);
  if constexpr (Choice<Value>) {
    value = static_cast<Value>(read_place(spec, text));
  } else if constexpr (std::integral<Value>) {
    value = static_cast<Value>(read_whole(spec, text, job));
  } else if constexpr (std::floating_point<Value>) {
    value = read_rate(spec, text);
  } else if constexpr (std::same_as<Value, Bytes>) {
    value = read_size(spec, text);
  } else if constexpr (std::same_as<Value, OpenDims>) {
    value = read_dims(spec, text);
  } else if constexpr (std::same_as<Value, std::vector<std::string>>) {
    value = split_at_commas(text);
  } else {
    value = text;
  }
}
template <class Value>
void read_setting(std::string_view key, std::string_view text, std::optional<Value>& value,
                  Job job = Job::predict) {
  Value read{};
  read_setting(key, text, read, job);
  value = read;
}
template <class Value>
Value read_setting(std::string_view key, std::string_view text) {
  Value value{};
  read_setting(key, text, value);
  return value;
}

/// As read_setting() reads it back; "" for what is not set.
template <class Value>
std::string print_setting(std::string_view key, const Value& value) {
  if constexpr (Choice<Value>) {
    return std::string(setting(key).choices[static_cast<std::size_t>(value)]);
  } else if constexpr (std::integral<Value>) {
    return std::to_string(value);
  } else if constexpr (std::same_as<Value, Bytes>) {
    return print_exact(value);
  } else if constexpr (std::same_as<Value, OpenDims>) {
    return print_open_dims(value);
  } else {
    return value;
  }
}
template <class Value>
std::string print_setting(std::string_view key, const std::optional<Value>& value) {
  return value ? print_setting(key, *value) : "";
}

}  // namespace strata
