// A scenario file: read and, where it is sound, its first and last cases taken and understood.

#include "sim/scenario/scenario.h"

#include <cstdlib>

#include "sim/ask/question.h"
#include "tests/fuzz/harness.h"
#include "tests/fuzz/text_mutator.h"

namespace {

constexpr std::string_view kWords[] = {"name",
                                       "about",
                                       "sweep",
                                       "report",
                                       "job",
                                       "predict",
                                       "solve",
                                       "run",
                                       "model",
                                       "lenet5",
                                       "cluster",
                                       "p100-1x4",
                                       "devices",
                                       "cpu:2",
                                       "batch",
                                       "batch_per_device",
                                       "strategy",
                                       "data",
                                       "owt",
                                       "optimal",
                                       "sync",
                                       "ring",
                                       "bucket",
                                       "zero",
                                       "dtype",
                                       "bf16",
                                       "optimizer",
                                       "adam",
                                       "micro_batch",
                                       "schedule",
                                       "1f1b",
                                       "recompute",
                                       "profile",
                                       "memory_limit",
                                       "jitter",
                                       "steps",
                                       "degrees",
                                       "all",
                                       "objective",
                                       "eq1",
                                       "lr",
                                       "seed",
                                       "layers",
                                       "zip",
                                       "set",
                                       "from",
                                       "to",
                                       "step",
                                       "count",
                                       "factor",
                                       "unit",
                                       "suffix",
                                       "form",
                                       "p100-{}x4",
                                       "kind",
                                       "claims",
                                       "table",
                                       "sql",
                                       "x",
                                       "y",
                                       "series",
                                       "log_x",
                                       "claim",
                                       "said",
                                       "tolerance",
                                       "true",
                                       "link.inter.bandwidth",
                                       "device.*.speed"};
constexpr std::string_view kLines[] = {
    "[[sweep]]",
    "[sweep.set]",
    "[[report]]",
    "[[report.claim]]",
    "model = \"lenet5\"",
    "cluster = [\"p100-1x2\", \"p100-1x4\"]",
    "strategy = [\"data\", \"owt\"]",
    "batch = { from = 1, to = 16, factor = 2 }",
    "steps = [{ from = 1, to = 3, step = 1 }, 9]",
    "cluster = { form = \"p100-{}x4\", from = 1, to = 4, step = 1 }",
    "\"link.inter.bandwidth\" = { from = 0.25, to = 1, count = 4, suffix = \"x\" }",
    "\"device.gpu0.speed\" = [0.5, 1]",
    "zip = [[\"batch\", \"steps\"]]",
    "job = \"solve\"",
    "sql = \"SELECT 1\""};
constexpr strata::Vocabulary kVocabulary = {kWords, kLines};

void understand(const strata::Scenario& scenario, const strata::Sweep& sweep, std::size_t i) {
  strata::fuzz(nullptr, 0, [&](std::string_view) { strata::question_of(scenario, sweep, i); });
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return strata::mutate_text(data, size, max_size, seed, kVocabulary);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return strata::fuzz(data, size, [](std::string_view text) {
    constexpr strata::ScenarioRoom kRoom{.values = 1000};  // long ranges take long
    const strata::Scenario scenario = strata::parse_scenario(text, "a.toml", kRoom);
    if (scenario.count() > strata::kMaxCases) std::abort();
    for (const strata::Sweep& sweep : scenario.sweeps) {
      if (sweep.count() == 0) std::abort();
      const bool same = sweep.at(0) == sweep.at(sweep.count() - 1);
      if (same != (sweep.count() == 1)) std::abort();  // cases differ
      understand(scenario, sweep, 0);
      understand(scenario, sweep, sweep.count() - 1);
    }
  });
}
