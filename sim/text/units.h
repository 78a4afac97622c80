#pragma once

// Quantities as people write them: "12.5 GB/s", "1 us", "16 GiB", "9.3 TFLOP/s". Prefixes k M G T P
// E are powers of 1000, Ki Mi Gi Ti of 1024; "Gb/s" counts bits, "GB/s" bytes. The blank before the
// unit may be missing. parse_* throw InputError without a place: "'12' is not a bandwidth;
// allowed: ..."; read_* take a Value and say its place.

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/base/units.h"
#include "sim/text/value.h"

namespace strata {

/// A finite decimal number and nothing else; `what` names it in the error.
double parse_number(std::string_view text, std::string_view what = "number");

BytesPerSecond parse_bandwidth(std::string_view text);   ///< "12.5 GB/s", "100 Gb/s"; positive
Seconds parse_seconds(std::string_view text);            ///< "1 us", "0 s"; not negative
Bytes parse_bytes(std::string_view text);                ///< "16 GiB", "1048576"; not negative
FlopsPerSecond parse_flops_rate(std::string_view text);  ///< "9.3 TFLOP/s"; positive
Watts parse_watts(std::string_view text);                ///< "700 W"; positive
double parse_factor(std::string_view text);              ///< "2x", "0.5x"; positive
bool is_factor(std::string_view text);                   ///< ends with the x of "2x"

BytesPerSecond read_bandwidth(const Value& value);
Seconds read_seconds(const Value& value);
Bytes read_bytes(const Value& value);  ///< an integer too, as bytes
FlopsPerSecond read_flops_rate(const Value& value);
Watts read_watts(const Value& value);

/// For people: three or four digits and a unit. Files and JSON take the plain SI number.
std::string format_seconds(Seconds seconds);   ///< "23.1 ms"
std::string format_bytes(Bytes bytes);         ///< "16.60 GB", up to "9.22 EB"
std::string format_rate(BytesPerSecond rate);  ///< "12.5 GB/s"
std::string format_count(std::int64_t count);  ///< "138,357,544"

/// What a number is of.
enum class Quantity : std::uint8_t { none, seconds, bytes, rate, factor };
/// Whether the format_* of the quantity has a text for the value; of one that is larger, units and
/// whole digits say nothing.
bool has_text(double value, Quantity quantity);

/// A key, which says the unit of its values, as files and JSON have it: "step_seconds" is "step" in
/// seconds.
struct KeyUnit {
  std::string_view name;
  Quantity quantity = Quantity::none;
};
KeyUnit key_unit(std::string_view key);
/// "peak memory" of "peak_memory_bytes": for people, beside values that have their units.
std::string plain_name(std::string_view key);

/// As parse_* read them back to the bit: "12500000000 B/s", "1e-06 s".
std::string print_exact(BytesPerSecond rate);
std::string print_exact(Seconds seconds);
std::string print_exact(Bytes bytes);  ///< "25 MiB", or "1000" where no binary unit divides it

}  // namespace strata
