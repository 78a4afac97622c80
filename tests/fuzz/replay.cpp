// A replay plan on four devices: what reads runs to its end, and printed it reads back and ends at
// the same time.

#include "sim/replay/replay.h"

#include <cstdlib>

#include "sim/cluster/presets.h"
#include "sim/engine/engine.h"
#include "tests/fuzz/harness.h"
#include "tests/fuzz/text_mutator.h"

namespace {

constexpr std::string_view kWords[] = {"id",
                                       "on",
                                       "seconds",
                                       "priority",
                                       "from",
                                       "to",
                                       "bytes",
                                       "over",
                                       "weights",
                                       "latency",
                                       "event",
                                       "after",
                                       "delay",
                                       "not_before",
                                       "activities",
                                       "gpu0",
                                       "gpu3",
                                       "host0/gpu0>gpu1",
                                       "host0/gpu1>gpu2",
                                       "null"};
constexpr std::string_view kLines[] = {
    R"({"id":0,"on":"gpu0","seconds":1})",
    R"({"id":1,"on":"gpu1","seconds":0.5,"priority":3,"after":[0]})",
    R"({"id":2,"from":"gpu0","to":"gpu1","bytes":1e8,"after":[0]})",
    R"({"id":3,"from":"gpu2","to":"gpu3","bytes":1,"latency":0.1,"not_before":2})",
    R"({"id":4,"over":["host0/gpu0>gpu1","host0/gpu1>gpu2"],"weights":[1,2],"bytes":5e7})",
    R"({"id":5,"event":0,"after":[1,2],"delay":1e-3})",
    R"({"activities":[)",
    R"(]})"};
constexpr strata::Vocabulary kVocabulary = {kWords, kLines};

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return strata::mutate_text(data, size, max_size, seed, kVocabulary);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return strata::fuzz(data, size, [](std::string_view text) {
    static const strata::Cluster cluster = strata::preset_cluster("p100-1x4");
    const strata::ReplayPlan plan = strata::parse_replay(text, "a.jsonl", cluster);
    const strata::ActivityTimes times = strata::simulate(plan);
    for (std::size_t i = 0; i < times.end.size(); ++i) {
      if (times.start[i] < times.ready[i] || times.end[i] < times.start[i]) std::abort();
    }
    const std::string printed = strata::print_replay(plan.workload, cluster);
    const strata::ReplayPlan back = strata::parse_replay(printed, "b.jsonl", cluster);
    if (strata::simulate(back).makespan != times.makespan) std::abort();
  });
}
