// Names that hold numbers: strategies of transformers (hybrid:tp=4,...), clusters (p100-4x4) and
// lists of strategies.

#include <cstdlib>

#include "sim/cluster/named_size.h"
#include "sim/strategy/hybrid.h"
#include "tests/fuzz/harness.h"
#include "tests/fuzz/text_mutator.h"

namespace {

constexpr std::string_view kWords[] = {"hybrid:", "tp=",  "sp=1",  "cp=",  "pp=",
                                       "vp=v",    "vp=",  "p100-", "cpu:", "dgx1-p100-",
                                       "4x4",     "data", "x"};
constexpr std::string_view kLines[] = {"hybrid:tp=4,sp=1,cp=2,pp=2,vp=v", "p100-4x4", "cpu:8"};
constexpr strata::Vocabulary kVocabulary = {kWords, kLines};

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return strata::mutate_text(data, size, max_size, seed, kVocabulary);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return strata::fuzz(data, size, [](std::string_view text) {
    if (const auto named = strata::named_size(text)) named->name();
    strata::split_strategies(text);
    if (!strata::is_hybrid(text)) return;
    const strata::HybridSizes sizes = strata::parse_hybrid(text);
    if (sizes.tensor < 1 || sizes.context < 1 || sizes.stages < 1 || sizes.chunks < 1) std::abort();
  });
}
