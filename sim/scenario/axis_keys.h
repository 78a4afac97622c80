#pragma once

// The keys of a [[sweep]] that make axes: their order, what their values must be, and which jobs
// they go with. Names of models and clusters, and the keys of [sweep.set], belong to others.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

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
  flag,      ///< true or false
  free,      ///< a text or a number
};

struct AxisKey {
  std::string_view key;
  ValueForm form = ValueForm::text;
  std::span<const Job> jobs;
  std::span<const std::string_view> choices;
};

/// In the order of a case's settings. Those of [sweep.set] follow them.
std::span<const AxisKey> axis_keys();
/// Of the values of [sweep.set].
const AxisKey& what_if_key();

bool goes_with(const AxisKey& key, Job job);

/// All jobs in their order.
std::span<const Job> jobs();

/// Whether the values are numbers, which a range may stand for without a unit or a form.
bool is_numeric(ValueForm form);

/// The text of one value, checked. Throws InputError.
std::string read_single(const AxisKey& key, const Value& value);
/// A text that `value`, a range or a list, stands for.
void check_text(const AxisKey& key, const Value& value, const std::string& text);

}  // namespace strata
