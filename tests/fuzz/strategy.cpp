// A strategy file for lenet5 on four devices: what reads must be sound.

#include <cstdlib>

#include "sim/cluster/presets.h"
#include "sim/graph/zoo.h"
#include "sim/strategy/strategy_file.h"
#include "tests/fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return strata::fuzz(data, size, [](std::string_view text) {
    static const strata::Graph graph = strata::build_zoo("lenet5", 8);
    static const strata::Cluster cluster = strata::preset_cluster("p100-1x4");
    const strata::Strategy strategy = strata::parse_strategy(text, "a.json", graph, cluster);
    if (!strata::validate(strategy, graph, cluster).empty()) std::abort();
  });
}
