#pragma once

// The keys of what-ifs, as link.SELECTOR.bandwidth, and the forms of their values. Pure;
// thread-safe.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace strata {

enum class WhatIfForm : std::uint8_t {
  bandwidth,  ///< "25 GB/s", or a factor: "2x"
  latency,    ///< "1 us", or a factor
  speed,      ///< a positive number, or a factor
  size,       ///< "40 GiB"
  duration,   ///< "80us"
  share,      ///< a number from 0, below 1
  ratio,      ///< a number from 1 to 1000
  power,      ///< "500 W"
  word,       ///< one of two
  load,       ///< "balanced", "zipf:1.2" or a file
};

/// Whether a value may be a factor, too, of what is there.
bool takes_factors(WhatIfForm form);
/// A value that is no factor, as a number: bytes a second, seconds, bytes, watts, or as it stands.
/// Throws InputError.
double parse_amount(WhatIfForm form, std::string_view text);
/// For people, in a few digits, as parse_amount() reads it; of no word.
std::string print_amount(WhatIfForm form, double amount);

/// What stands in the key for SELECTOR of the pattern, which may hold dots; "" where a pattern
/// without one is the key. Nothing where the key is not of the pattern.
constexpr std::optional<std::string_view> selector_in(std::string_view key,
                                                      std::string_view pattern) {
  constexpr std::string_view kSelector = "SELECTOR";
  const std::size_t at = pattern.find(kSelector);
  if (at == std::string_view::npos) {
    return key == pattern ? std::optional(std::string_view()) : std::nullopt;
  }
  const std::string_view begin = pattern.substr(0, at);
  const std::string_view end = pattern.substr(at + kSelector.size());
  const std::size_t around = begin.size() + end.size();
  if (!key.starts_with(begin) || !key.ends_with(end) || key.size() <= around) return std::nullopt;
  return key.substr(begin.size(), key.size() - around);
}

}  // namespace strata
