// Published measurements: a page of TOML, a line "----", and its table.

#include <cmath>
#include <cstdlib>

#include "sim/study/published/published_file.h"
#include "tests/fuzz/harness.h"
#include "tests/fuzz/text_mutator.h"

namespace {

constexpr std::string_view kWords[] = {
    "title",     "source",  "licence", "notes",  "device", "table", "unit",
    "measured",  "network", "choice",  "fitted", "rows",   "case",  "strategy",
    "set",       "model",   "cluster", "batch",  "ms",     "s",     "samples/s",
    "{network}", "{ms}",    "{",       "data",   "dtype",  "fp32"};
constexpr std::string_view kLines[] = {
    "unit = \"ms\"",       "[case]",           "[case.set]",  "[rows]",
    "batch = \"{batch}\"", "network,batch,ms", "vgg16,32,10", "----"};
constexpr strata::Vocabulary kVocabulary = {kWords, kLines};

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return strata::mutate_text(data, size, max_size, seed, kVocabulary);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return strata::fuzz(data, size, [](std::string_view text) {
    constexpr std::string_view kBetween = "\n----\n";
    const std::size_t at = text.find(kBetween);
    if (at == std::string_view::npos) return;
    const auto table = strata::parse_published(text.substr(0, at + 1), "a.toml",
                                               text.substr(at + kBetween.size()), "a.csv");
    for (const strata::PublishedStep& step : table.steps) {
      if (!(step.measured.value > 0) || !std::isfinite(step.measured.value)) std::abort();
    }
  });
}
