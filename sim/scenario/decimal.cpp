#include "sim/scenario/decimal.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <system_error>

#include <fmt/format.h>

namespace strata {
namespace {

constexpr int kDigits = 27;
// Of a quotient, behind its point: 27 digits, of which at most 5 are zeros before the first; a
// double has 17.
constexpr int kPieces = 3;
constexpr std::int64_t kPiece = 1'000'000'000;

/// Of "-12.5e-3"; what no double holds is infinite or 0.
double read_double(const std::string& text, int exponent) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc()) return value;
  const double most = exponent > 0 ? std::numeric_limits<double>::infinity() : 0;
  return text.front() == '-' ? -most : most;
}

bool fits(Wide value) {
  return value >= std::numeric_limits<std::int64_t>::min() &&
         value <= std::numeric_limits<std::int64_t>::max();
}

/// Without zeros at the end of the units.
template <class Integer>
void shorten(Integer& units, int& exponent) {
  if (units == 0) exponent = 0;
  for (; units != 0 && units % 10 == 0; units /= 10) ++exponent;
}

std::string print_units(Wide units, int exponent) {
  for (; units % 10 == 0 && !fits(units); units /= 10) ++exponent;
  if (fits(units)) {
    Decimal number{static_cast<std::int64_t>(units), exponent};
    shorten(number.units, number.exponent);
    return print(number);
  }
  return fmt::format("{}", read_double(fmt::format("{}e{}", units, exponent), exponent));
}

/// units * 10^exponent as an integer, where it is one of 64 bits.
std::optional<std::int64_t> whole(Decimal number) {
  if (number.exponent < 0) return std::nullopt;
  for (; number.exponent > 0; --number.exponent) {
    if (__builtin_mul_overflow(number.units, 10, &number.units)) return std::nullopt;
  }
  return number.units;
}

std::optional<Wide> units_at(const Decimal& number, int exponent) {
  Wide limit = 1;
  for (int i = 0; i < kDigits; ++i) limit *= 10;
  Wide units = number.units;
  for (int i = number.exponent; units != 0 && i > exponent; --i) {
    units *= 10;
    if (units >= limit || units <= -limit) return std::nullopt;
  }
  return units;
}

}  // namespace

Decimal decimal_of(std::int64_t value) {
  Decimal number{value, 0};
  shorten(number.units, number.exponent);
  return number;
}

Decimal decimal_of(double value) {
  std::array<char, 32> text;
  const char* const begin = text.data();
  const char* const end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific)
          .ptr;
  const char* const e = std::find(begin, end, 'e');
  Decimal number;
  std::from_chars(e[1] == '+' ? e + 2 : e + 1, end, number.exponent);
  std::string digits(begin, e);
  if (const std::size_t point = digits.find('.'); point != std::string::npos) {
    number.exponent -= static_cast<int>(digits.size() - point - 1);
    digits.erase(point, 1);
  }
  std::from_chars(digits.data(), digits.data() + digits.size(), number.units);
  shorten(number.units, number.exponent);
  return number;
}

double value_of(const Decimal& number) {
  return read_double(fmt::format("{}e{}", number.units, number.exponent), number.exponent);
}

std::optional<Decimal> product(const Decimal& a, const Decimal& b) {
  Wide units = Wide{a.units} * b.units;
  int exponent = a.exponent + b.exponent;
  shorten(units, exponent);
  if (!fits(units)) return std::nullopt;
  return Decimal{static_cast<std::int64_t>(units), exponent};
}

std::optional<Aligned> align(std::span<const Decimal> numbers) {
  std::optional<int> least;
  for (const Decimal& number : numbers) {
    if (number.units != 0) least = std::min(least.value_or(number.exponent), number.exponent);
  }
  Aligned aligned;
  aligned.exponent = least.value_or(0);
  for (const Decimal& number : numbers) {
    const auto units = units_at(number, aligned.exponent);
    if (!units) return std::nullopt;
    aligned.units.push_back(*units);
  }
  return aligned;
}

std::string print(const Decimal& number) {
  if (const auto integer = whole(number)) return fmt::format("{}", *integer);
  return fmt::format("{}", value_of(number));
}

std::string print_ratio(Wide numerator, std::int64_t denominator, int exponent) {
  if (numerator % denominator == 0) return print_units(numerator / denominator, exponent);
  const bool negative = numerator < 0;
  const Wide size = negative ? -numerator : numerator;
  std::string text = fmt::format("{}{}.", negative ? "-" : "", size / denominator);
  auto rest = static_cast<std::int64_t>(size % denominator);
  for (int i = 0; i < kPieces; ++i) {
    rest *= kPiece;
    text += fmt::format("{:09}", rest / denominator);
    rest %= denominator;
  }
  return fmt::format("{}", read_double(fmt::format("{}e{}", text, exponent), exponent));
}

}  // namespace strata
