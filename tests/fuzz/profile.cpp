// A profile file: read and, where it is sound, printed and read back equal.

#include "sim/profile/profile.h"

#include <cstdlib>

#include "tests/fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return strata::fuzz(data, size, [](std::string_view text) {
    const strata::Profile profile = strata::parse_profile(text, "a.toml");
    if (!(strata::parse_profile(strata::print_profile(profile), "b.toml") == profile)) std::abort();
  });
}
