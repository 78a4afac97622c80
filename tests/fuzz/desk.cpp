// A session's file of the desktop program: read and, where it is sound, printed and read back
// equal.

#include <cstdlib>

#include "gui/document/document.h"
#include "tests/fuzz/harness.h"
#include "tests/fuzz/text_mutator.h"

namespace {

constexpr std::string_view kWords[] = {"strata_document",
                                       "baseline",
                                       "input",
                                       "strategy",
                                       "sets",
                                       "configs",
                                       "found",
                                       "found_on",
                                       "touched",
                                       "locked",
                                       "profiles",
                                       "base_cluster",
                                       "base_batch",
                                       "degrees",
                                       "devices",
                                       "r",
                                       "scatter",
                                       "model",
                                       "cluster",
                                       "batch",
                                       "lenet5",
                                       "p100-4x4",
                                       "data",
                                       "true",
                                       "null",
                                       "1"};
constexpr std::string_view kLines[] = {R"("model": "lenet5",)", R"("baseline": {},)",
                                       R"("sets": [["overlap", "off"]],)"};
constexpr strata::Vocabulary kVocabulary = {kWords, kLines};

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return strata::mutate_text(data, size, max_size, seed, kVocabulary);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return strata::fuzz(data, size, [](std::string_view text) {
    const strata::gui::SavedDesk desk = strata::gui::parse_desk(text, "a.json");
    if (strata::gui::parse_desk(strata::gui::print_desk(desk), "b.json") != desk) std::abort();
  });
}
