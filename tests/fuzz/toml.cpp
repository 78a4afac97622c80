// TOML text, and a string of it quoted and read again.

#include "sim/text/toml.h"

#include <cstdlib>

#include "tests/fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return strata::fuzz(data, size, [](std::string_view text) {
    const strata::Document document = strata::parse_toml(text, "a.toml");
    for (const auto& [key, value] : document.table().members()) {
      if (!value.is(strata::ValueKind::string)) continue;
      const std::string again = "key = " + strata::toml_quoted(value.as_string());
      if (strata::parse_toml(again, "b.toml").table().string("key") != value.as_string()) {
        std::abort();
      }
    }
  });
}
