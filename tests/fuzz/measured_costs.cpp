// A table of measured costs: read and, where it is sound, printed and read back equal.

#include <cstdlib>

#include "sim/profile/measured_cost.h"
#include "tests/fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return strata::fuzz(data, size, [](std::string_view text) {
    const auto costs = strata::parse_measured_costs(text, "a.tsv");
    if (strata::parse_measured_costs(strata::print_measured_costs(costs), "b.tsv") != costs) {
      std::abort();
    }
  });
}
