// A network file: read and, where it is sound, printed and read back equal.

#include <cstdlib>

#include "sim/graph/model_file.h"
#include "tests/fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return strata::fuzz(data, size, [](std::string_view text) {
    const strata::Graph graph = strata::parse_model(text, "a.toml", 2);
    if (!(strata::parse_model(strata::print_model(graph), "b.toml", 2) == graph)) std::abort();
  });
}
