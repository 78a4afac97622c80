#pragma once

// Numbers as a report writes them, the same in every locale. Pure; thread-safe.

#include <cstdint>
#include <string>

namespace strata {

/// times * 10^exponent, the nearest double. 10^-308 to 10^308.
double decimal(std::int64_t times, int exponent);

/// The shortest text that reads back to the bit: "0.1", "3", "1e-07".
std::string shortest(double value);

/// At most so many digits that count, no trailing zeros, thousands as k, M, G and T: "1.23k",
/// "0.05", "2.5e-5".
std::string short_number(double value, int digits = 3);

/// A place in a drawing: one decimal.
std::string coordinate(double value);

}  // namespace strata
