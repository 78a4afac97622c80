#pragma once

// What-ifs: what changes a case beside its settings, a row each: the key, what its value is, and
// what it does. The option `set` and its help, scenarios' [sweep.set], axes of phase maps and
// messages read this table; docs/clusters.md has a line for each. Thread-safe.

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "sim/case/predict.h"
#include "sim/cluster/what_if.h"

namespace strata {

/// A value for a what-if.
struct WhatIfValue {
  std::string_view selector;  ///< of links, devices or layers; "" where the key has none
  const std::string& text;
  std::size_t word = 0;  ///< of a word: its place among those that the key may have
  bool on() const { return word == 0; }
};

struct WhatIfSpec {
  std::string_view key;  ///< with SELECTOR where it says which links, devices or layers it changes
  WhatIfForm form = WhatIfForm::word;
  std::function<void(Case& input, const WhatIfValue& value)> change;  ///< throws InputError
  std::span<const std::string_view> words = {};  ///< where there are two, the first switches on
};

/// Every what-if that a case may have, in the order in which messages list them.
std::span<const WhatIfSpec> what_ifs();
/// The what-if that a key, with a selector in it, belongs to; null where it belongs to none.
const WhatIfSpec* find_what_if(std::string_view key);
/// The keys in their order, for messages.
std::string what_if_keys();
/// What its values are: "a value or a factor (2x)", "on or off".
std::string values_text(const WhatIfSpec& what_if);
/// The keys and what their values are, for the help of `set`.
std::string what_if_help();
/// Throws InputError for what is no such value of any case; of links and devices the case says.
void check_value(const WhatIfSpec& what_if, const std::string& text);
/// Whether the what-if changes more than what fits in memory.
bool changes_times(std::string_view key);
/// Whether the key begins as those of what-ifs do, right or wrong; settings begin otherwise.
bool is_what_if(std::string_view key);

/// Whether the cluster says what the dispatch takes.
bool knows(const Cluster& cluster, TokenDispatch dispatch);

/// After all what-ifs: where devices exchange slots pair by pair there are no dispatchers. What
/// was asked for is refused then, with an InputError, and what a framework chose is left out.
void settle_dispatch(Case& input, const WhatIfs& asked);

/// After all what-ifs, what follows from several of them: buckets of a case that shares by block,
/// unless it has another than the usual bucket; what all devices wait for where hosts differ.
void settle_what_ifs(Case& input);

/// One what-if. Throws InputError; where it came from, the caller says.
void change(Case& input, const std::string& key, const std::string& value);

}  // namespace strata
