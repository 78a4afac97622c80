// A trace file.

#include "sim/importers/trace/read_trace.h"
#include "tests/fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return strata::fuzz(data, size,
                      [](std::string_view text) { strata::parse_trace(text, "t.json"); });
}
