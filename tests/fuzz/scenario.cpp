// A scenario file: read and, where it is sound, its first and last cases taken.

#include "sim/scenario/scenario.h"

#include <cstdlib>

#include "tests/fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return strata::fuzz(data, size, [](std::string_view text) {
    const strata::Scenario scenario = strata::parse_scenario(text, "a.toml");
    if (scenario.count() > strata::kMaxCases) std::abort();
    for (const strata::Sweep& sweep : scenario.sweeps) {
      if (sweep.count() == 0) std::abort();
      const bool same = sweep.at(0) == sweep.at(sweep.count() - 1);
      if (same != (sweep.count() == 1)) std::abort();  // cases differ
    }
  });
}
