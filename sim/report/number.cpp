#include "sim/report/number.h"

#include <charconv>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace strata {
namespace {

constexpr int kLeastPlain = -4;  // 0.0001; below that a power of ten is easier to read
constexpr int kMostPrefixed = 20;
constexpr std::string_view kPrefixes[] = {"", "k", "M", "G", "T", "P", "E"};

std::string without_zeros(std::string digits) {
  if (digits.find('.') == std::string::npos) return digits;
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  return digits;
}

}  // namespace

double decimal(std::int64_t times, int exponent) {
  const std::string text = fmt::format("{}e{}", times, exponent);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string shortest(double value) {
  return fmt::format("{}", value);
}

std::string short_number(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return value == 0 ? "0" : shortest(value);
  // Rounded first: 999.9 has the exponent of 1000 when only three digits count.
  const std::string rounded = fmt::format("{:.{}e}", value, digits - 1);
  const std::size_t e = rounded.find('e');
  const int exponent = std::stoi(rounded.substr(e + 1));
  if (exponent < kLeastPlain || exponent > kMostPrefixed) {
    return fmt::format("{}e{}", without_zeros(rounded.substr(0, e)), exponent);
  }
  const int prefix = exponent < 3 ? 0 : exponent / 3;
  const int decimals = digits - 1 - (exponent - 3 * prefix);
  double shown = 0;
  std::from_chars(rounded.data(), rounded.data() + rounded.size(), shown);
  shown /= decimal(1, 3 * prefix);
  return without_zeros(fmt::format("{:.{}f}", shown, decimals > 0 ? decimals : 0)) +
         std::string(kPrefixes[prefix]);
}

std::string coordinate(double value) {
  return fmt::format("{:.1f}", value);
}

}  // namespace strata
