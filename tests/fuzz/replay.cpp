// A replay plan on four devices: what reads must run to its end.

#include "sim/replay/replay.h"

#include "sim/cluster/presets.h"
#include "sim/engine/engine.h"
#include "tests/fuzz/harness.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return strata::fuzz(data, size, [](std::string_view text) {
    static const strata::Cluster cluster = strata::preset_cluster("p100-1x4");
    const strata::ReplayPlan plan = strata::parse_replay(text, "a.jsonl", cluster);
    strata::simulate(plan.workload);
  });
}
