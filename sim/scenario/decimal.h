#pragma once

// Decimal numbers as files write them, exact: 0.1 is one tenth and not the double beside it, so a
// range of tenths prints as people write tenths. Pure; thread-safe.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace strata {

/// Room for the products of a range's arithmetic.
__extension__ typedef __int128 Wide;

/// units * 10^exponent. Zero has exponent 0, and no other number ends with a zero.
struct Decimal {
  std::int64_t units = 0;
  int exponent = 0;

  bool operator==(const Decimal&) const = default;
};

Decimal decimal_of(std::int64_t value);
/// Of the fewest digits that read back as this double, which must be finite.
Decimal decimal_of(double value);

/// The double next to it.
double value_of(const Decimal& number);

/// Nothing where 64 bits don't hold the product.
std::optional<Decimal> product(const Decimal& a, const Decimal& b);

/// The numbers as multiples of one power of ten.
struct Aligned {
  std::vector<Wide> units;
  int exponent = 0;
};
/// Nothing where one has more than 27 digits then.
std::optional<Aligned> align(std::span<const Decimal> numbers);

/// Whole numbers as such ("12"), where 64 bits hold them; others in the fewest digits that read
/// back as the double next to them ("0.1", "1e+30").
std::string print(const Decimal& number);
/// Of numerator / denominator * 10^exponent; the denominator is from 1 to 10^6.
std::string print_ratio(Wide numerator, std::int64_t denominator, int exponent);

}  // namespace strata
