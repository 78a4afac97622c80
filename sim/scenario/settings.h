#pragma once

// The settings of a study, once each: what it is called, what it is for, what its values are, and
// which jobs of a scenario it goes with. Scenario files, the command line, its manual and
// completions, and the desktop program read them here. A message names a setting by its key
// between backticks (`memory_limit`), which the command line shows as its option. What a model's or
// a cluster's name may be, and the keys of [sweep.set], belong to others. Thread-safe.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sim/base/units.h"
#include "sim/scenario/scenario.h"
#include "sim/text/value.h"

namespace strata {

enum class ValueForm : std::uint8_t {
  text,      ///< not empty
  choice,    ///< one of a few words
  strategy,  ///< one of a few words, or a .json file
  files,     ///< names of files, without commas
  size,      ///< bytes: "8 GiB", or an integer
  positive,  ///< an integer of at least 1
  natural,   ///< an integer of at least 0
  rate,      ///< a number of at least 0
  seconds,   ///< the same
  flag,      ///< true or false
  free,      ///< a text or a number
};

struct SettingSpec {
  std::string_view key;
  ValueForm form = ValueForm::text;
  std::span<const Job> jobs;     ///< none: not of scenarios
  std::string_view placeholder;  ///< for its value in a manual: "TYPE"; empty for a number's
  std::string_view help;         ///< what it is for, its values and the usual one
  std::span<const std::string_view> choices = {};  ///< in the order of the enumeration they name
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

/// All jobs in their order.
std::span<const Job> jobs();

/// Whether the values are numbers, which a range may stand for without a unit or a form.
bool is_numeric(ValueForm form);

/// The text of one value, checked. Throws InputError.
std::string read_single(const SettingSpec& setting, const Value& value);
/// A text that `value`, a range or a list, stands for.
void check_text(const SettingSpec& setting, const Value& value, const std::string& text);

// A setting's text as its value. All throw InputError that names the setting and what is allowed.

std::size_t read_place(const SettingSpec& setting, std::string_view text);
/// Of an enumeration that the setting's choices name.
template <class Choice>
Choice read_choice(std::string_view key, std::string_view text) {
  return static_cast<Choice>(read_place(setting(key), text));
}
template <class Choice>
std::string_view print_choice(std::string_view key, Choice choice) {
  return setting(key).choices[static_cast<std::size_t>(choice)];
}
std::int64_t read_positive(std::string_view key, std::string_view text);
std::uint64_t read_natural(std::string_view key, std::string_view text);
/// A finite number of at least 0.
double read_rate(std::string_view key, std::string_view text);
Bytes read_size(std::string_view key, std::string_view text);

}  // namespace strata
