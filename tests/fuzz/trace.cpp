// A trace file, and which layers its kernels are of.

#include "sim/graph/zoo.h"
#include "sim/importers/trace/kernel_layers.h"
#include "sim/importers/trace/read_trace.h"
#include "tests/fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const strata::Graph graph = strata::build_zoo("lenet5", 1);
  return strata::fuzz(data, size, [](std::string_view text) {
    strata::match_kernels(strata::parse_trace(text, "t.json"), graph);
  });
}
