// Names that hold numbers: strategies of transformers (hybrid:tp=4,...), clusters (p100-4x4), which
// are made where they are small, and lists of strategies.

#include <cstdlib>

#include "sim/cluster/named_size.h"
#include "sim/cluster/presets.h"
#include "sim/strategy/hybrid.h"
#include "tests/fuzz/harness.h"
#include "tests/fuzz/text_mutator.h"

namespace {

constexpr std::string_view kWords[] = {
    "hybrid:", "tp=",   "sp=1", "cp=",        "cp_by=heads", "pp=",  "vp=v",
    "vp=",     "p100-", "cpu:", "dgx1-p100-", "4x4",         "data", "x"};
constexpr std::string_view kLines[] = {"hybrid:tp=4,sp=1,cp=2,pp=2,vp=v", "p100-4x4", "cpu:8"};
constexpr strata::Vocabulary kVocabulary = {kWords, kLines};

// The name of a cluster says what is made.
void check_cluster(std::string_view text, const strata::NamedSize& named) {
  const std::int64_t hosts = named.hosts.value_or(1), devices = named.devices.value_or(1);
  if (hosts > 4 || devices > 16) return;
  const strata::Cluster made = strata::preset_cluster(text);
  if (made.device_count() != strata::preset_cluster(named.name()).device_count()) std::abort();
  const auto count = static_cast<std::size_t>(hosts * devices);
  if (named.devices && made.device_count() != count) std::abort();
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return strata::mutate_text(data, size, max_size, seed, kVocabulary);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return strata::fuzz(data, size, [](std::string_view text) {
    strata::split_strategies(text);
    if (const auto named = strata::named_size(text)) check_cluster(text, *named);
    if (!strata::is_hybrid(text)) return;
    const strata::HybridSizes sizes = strata::parse_hybrid(text);
    if (sizes.tensor < 1 || sizes.context < 1 || sizes.stages < 1 || sizes.chunks < 1) std::abort();
  });
}
