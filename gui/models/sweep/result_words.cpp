// Words of a store, as quantities, in order and in quotes.

#include <algorithm>
#include <charconv>
#include <cmath>

#include "gui/models/sweep/result_set.h"
#include "sim/base/error.h"
#include "sim/text/units.h"

namespace strata::gui {
namespace {

std::optional<Measure> with_unit(const std::string& text) {
  try {
    if (is_factor(text)) return Measure{parse_factor(text), Quantity::factor};
    if (text.ends_with("/s")) return Measure{parse_bandwidth(text).value, Quantity::rate};
    if (text.ends_with("s")) return Measure{parse_seconds(text).value, Quantity::seconds};
    return Measure{static_cast<double>(parse_bytes(text).value), Quantity::bytes};
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace

std::optional<Measure> measure_of(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{}) return std::nullopt;
  if (stop != end) return with_unit(text);
  return std::isfinite(value) ? std::optional(Measure{value, Quantity::none}) : std::nullopt;
}

bool natural_less(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto digits = [&](std::string_view text) {
    const auto end = std::find_if_not(text.begin(), text.end(), digit);
    return text.substr(0, static_cast<std::size_t>(end - text.begin()));
  };
  const std::string_view whole_a = a, whole_b = b;
  while (!a.empty() && !b.empty()) {
    std::string_view x = digits(a), y = digits(b);
    if (x.empty() || y.empty()) x = a.substr(0, 1), y = b.substr(0, 1);
    if (x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
    a.remove_prefix(x.size());
    b.remove_prefix(y.size());
  }
  return a.empty() && b.empty() ? whole_a < whole_b : a.empty() && !b.empty();
}

}  // namespace strata::gui
