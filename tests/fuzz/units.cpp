// Quantities with their units, as files and flags write them.

#include "sim/text/units.h"

#include "tests/fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto each = [&](auto parse) { strata::fuzz(data, size, parse); };
  each([](std::string_view text) { strata::parse_bandwidth(text); });
  each([](std::string_view text) { strata::parse_seconds(text); });
  each([](std::string_view text) { strata::parse_bytes(text); });
  each([](std::string_view text) { strata::parse_flops_rate(text); });
  each([](std::string_view text) { strata::parse_factor(text); });
  return 0;
}
