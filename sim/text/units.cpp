#include "sim/text/units.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>

#include <fmt/format.h>

namespace strata {
namespace {

/// A number divided by a power of ten that a double holds exactly is rounded once: "1 us" is the
/// double nearest to 1e-6, which 1 * 1e-6 need not be.
struct Unit {
  std::string_view name;
  double times = 1;
  double over = 1;
};

constexpr double kKi = 1024, kMi = kKi * kKi, kGi = kMi * kKi, kTi = kGi * kKi;

constexpr std::array<Unit, 17> kBandwidths = {{{"B/s"},
                                               {"kB/s", 1e3},
                                               {"KB/s", 1e3},
                                               {"MB/s", 1e6},
                                               {"GB/s", 1e9},
                                               {"TB/s", 1e12},
                                               {"PB/s", 1e15},
                                               {"EB/s", 1e18},
                                               {"KiB/s", kKi},
                                               {"MiB/s", kMi},
                                               {"GiB/s", kGi},
                                               {"TiB/s", kTi},
                                               {"b/s", 1, 8},
                                               {"kb/s", 1e3, 8},
                                               {"Mb/s", 1e6, 8},
                                               {"Gb/s", 1e9, 8},
                                               {"Tb/s", 1e12, 8}}};
constexpr std::array<Unit, 5> kTimes = {
    {{"s"}, {"ms", 1, 1e3}, {"us", 1, 1e6}, {"ns", 1, 1e9}, {"ps", 1, 1e12}}};
constexpr std::array<Unit, 2> kPowers = {{{"W"}, {"kW", 1e3}}};
constexpr std::array<Unit, 13> kSizes = {{{""},
                                          {"B"},
                                          {"kB", 1e3},
                                          {"KB", 1e3},
                                          {"MB", 1e6},
                                          {"GB", 1e9},
                                          {"TB", 1e12},
                                          {"PB", 1e15},
                                          {"EB", 1e18},
                                          {"KiB", kKi},
                                          {"MiB", kMi},
                                          {"GiB", kGi},
                                          {"TiB", kTi}}};
constexpr std::array<Unit, 6> kFlops = {{{"FLOP/s"},
                                         {"kFLOP/s", 1e3},
                                         {"MFLOP/s", 1e6},
                                         {"GFLOP/s", 1e9},
                                         {"TFLOP/s", 1e12},
                                         {"PFLOP/s", 1e15}}};
constexpr std::array<Unit, 1> kFactor = {{{"x"}}};

struct UnitFamily {
  std::string_view noun;  ///< with its article
  std::string_view allowed;
  std::span<const Unit> units;
  bool zero = false;  ///< may be 0
};

constexpr UnitFamily kBandwidth{
    "a bandwidth",
    "a positive number with B/s, kB/s, MB/s, GB/s, TB/s, PB/s, EB/s, KiB/s, MiB/s, GiB/s, TiB/s "
    "(bytes) or b/s, kb/s, Mb/s, Gb/s, Tb/s (bits), as in \"12.5 GB/s\"",
    kBandwidths};
constexpr UnitFamily kTime{
    "a time", "a number of at least 0 with s, ms, us, ns or ps, as in \"1 us\"", kTimes, true};
constexpr UnitFamily kSize{"a size",
                           "a number of at least 0 with B, kB, MB, GB, TB, PB, EB, KiB, MiB, GiB, "
                           "TiB or nothing (bytes), as in \"16 GiB\"",
                           kSizes, true};
constexpr UnitFamily kFlopsRate{"a rate of arithmetic",
                                "a positive number with FLOP/s, kFLOP/s, MFLOP/s, GFLOP/s, TFLOP/s "
                                "or PFLOP/s, as in \"9.3 TFLOP/s\"",
                                kFlops};
constexpr UnitFamily kPower{"a power", "a positive number with W or kW, as in \"700 W\"", kPowers};
// Quotients and products of a few quantities stay finite, and none that anybody measures is beyond.
constexpr double kLeastQuantity = 1e-30, kMostQuantity = 1e30;

constexpr UnitFamily kFactors{"a factor", "a positive number with x, as in \"0.5x\"", kFactor};

std::string_view without_blanks(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

[[noreturn]] void refuse(const UnitFamily& family, std::string_view text) {
  throw InputError(fmt::format("'{}' is not {}; allowed: {}", text, family.noun, family.allowed));
}

[[noreturn]] void refuse_extreme(const UnitFamily& family, std::string_view text) {
  throw InputError(fmt::format("'{}' is not {}; allowed: {} to {}, in the unit without a prefix",
                               text, family.noun, kLeastQuantity, kMostQuantity));
}

double parse(const UnitFamily& family, std::string_view text) {
  const std::string_view trimmed = without_blanks(text);
  double number = 0;
  const auto [end, error] =
      std::from_chars(trimmed.data(), trimmed.data() + trimmed.size(), number);
  if (error != std::errc()) refuse(family, text);
  const auto used = static_cast<std::size_t>(end - trimmed.data());
  const std::string_view name = without_blanks(trimmed.substr(used));
  for (const Unit& unit : family.units) {
    if (unit.name != name) continue;
    const double value = number * unit.times / unit.over;
    if (value >= kLeastQuantity && value <= kMostQuantity) return value;
    if (number == 0 && family.zero) return 0;
    if (number > 0 && std::isfinite(number)) refuse_extreme(family, text);
  }
  refuse(family, text);
}

template <class Parse>
auto read_with(const Value& value, Parse parse_text) {
  try {
    return parse_text(value.as_string());
  } catch (const InputError& error) {
    if (!value.is(ValueKind::string)) throw;
    value.fail(fmt::format("'{}': {}", value.name(), error.message()));
  }
}

/// Three significant digits, without zeros behind the point.
std::string short_number(double value) {
  return std::fabs(value) >= 999.5 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

std::string with_prefix(double value, std::string_view unit) {
  constexpr std::array<std::string_view, 7> kPrefixes = {"", "k", "M", "G", "T", "P", "E"};
  std::size_t i = 0;
  for (; i + 1 < kPrefixes.size() && std::fabs(value) >= 999.5; ++i) value /= 1000;
  return fmt::format("{} {}{}", short_number(value), kPrefixes[i], unit);
}

}  // namespace

double parse_number(std::string_view text, std::string_view what) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) {
    throw InputError(fmt::format("'{}' is not a {}", text, what));
  }
  return number;
}

BytesPerSecond parse_bandwidth(std::string_view text) {
  return {parse(kBandwidth, text)};
}
Seconds parse_seconds(std::string_view text) {
  return {parse(kTime, text)};
}
FlopsPerSecond parse_flops_rate(std::string_view text) {
  return {parse(kFlopsRate, text)};
}
Watts parse_watts(std::string_view text) {
  return {parse(kPower, text)};
}
double parse_factor(std::string_view text) {
  return parse(kFactors, text);
}
bool is_factor(std::string_view text) {
  return without_blanks(text).ends_with('x');
}

Bytes parse_bytes(std::string_view text) {
  const double bytes = parse(kSize, text);
  if (bytes > 9e18) refuse(kSize, text);
  return {std::llround(bytes)};
}

BytesPerSecond read_bandwidth(const Value& value) {
  // 12.5 without a unit is the slip that most often ends here.
  if (!value.is(ValueKind::string)) value.fail_expected("a string, as \"12.5 GB/s\"");
  return read_with(value, parse_bandwidth);
}
Seconds read_seconds(const Value& value) {
  if (!value.is(ValueKind::string)) value.fail_expected("a string, as \"1 us\"");
  return read_with(value, parse_seconds);
}
FlopsPerSecond read_flops_rate(const Value& value) {
  return read_with(value, parse_flops_rate);
}

Watts read_watts(const Value& value) {
  return read_with(value, parse_watts);
}

Bytes read_bytes(const Value& value) {
  if (value.is(ValueKind::integer)) return {value.as_integer(0)};
  return read_with(value, parse_bytes);
}

std::string format_seconds(Seconds seconds) {
  const double s = std::fabs(seconds.value);
  if (s == 0) return "0 s";
  if (s >= 0.9995) return fmt::format("{} s", short_number(seconds.value));
  if (s >= 0.9995e-3) return fmt::format("{:.3g} ms", seconds.value * 1e3);
  if (s >= 0.9995e-6) return fmt::format("{:.3g} us", seconds.value * 1e6);
  return fmt::format("{:.3g} ns", seconds.value * 1e9);
}

std::string format_bytes(Bytes bytes) {
  const auto value = static_cast<double>(bytes.value);
  const double magnitude = std::fabs(value);
  if (magnitude >= 999.995e15) return fmt::format("{:.2f} EB", value * 1e-18);
  if (magnitude >= 999.995e12) return fmt::format("{:.2f} PB", value * 1e-15);
  if (magnitude >= 999.995e9) return fmt::format("{:.2f} TB", value * 1e-12);
  if (magnitude >= 999.995e6) return fmt::format("{:.2f} GB", value * 1e-9);
  if (magnitude >= 999.995e3) return fmt::format("{:.2f} MB", value * 1e-6);
  if (magnitude >= 1e3) return fmt::format("{:.2f} kB", value * 1e-3);
  return fmt::format("{} B", bytes.value);
}

std::string format_rate(BytesPerSecond rate) {
  return with_prefix(rate.value, "B/s");
}

std::string format_count(std::int64_t count) {
  std::string digits = fmt::format("{}", count);
  const std::size_t first = count < 0 ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

bool has_text(double value, Quantity quantity) {
  const double end = quantity == Quantity::bytes ? 0x1p63 : 1e15;  // of what Bytes hold
  return std::fabs(value) < end;
}

KeyUnit key_unit(std::string_view key) {
  for (const auto& [end, quantity] :
       {KeyUnit{"_seconds", Quantity::seconds}, {"_bytes", Quantity::bytes}}) {
    if (key.ends_with(end)) return {key.substr(0, key.size() - end.size()), quantity};
  }
  return {key};
}

std::string plain_name(std::string_view key) {
  std::string name(key_unit(key).name);
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::string print_exact(BytesPerSecond rate) {
  return fmt::format("{} B/s", rate.value);
}
std::string print_exact(Seconds seconds) {
  return fmt::format("{} s", seconds.value);
}
std::string print_exact(Bytes bytes) {
  constexpr std::array<std::string_view, 4> kUnits = {"", " KiB", " MiB", " GiB"};
  std::int64_t count = bytes.value;
  std::size_t unit = 0;
  for (; count != 0 && count % 1024 == 0 && unit + 1 < kUnits.size(); ++unit) count /= 1024;
  return fmt::format("{}{}", count, kUnits[unit]);
}

}  // namespace strata
