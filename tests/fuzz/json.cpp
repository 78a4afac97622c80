// JSON text.

#include "sim/text/json.h"

#include "tests/fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return strata::fuzz(data, size,
                      [](std::string_view text) { strata::parse_json(text, "a.json"); });
}
