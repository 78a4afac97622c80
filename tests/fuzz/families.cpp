// Transformers by their names and sizes, "gpt:layers=2,...": built, and where they are sound,
// printed and read back equal.

#include <cstdlib>

#include "sim/graph/model_file.h"
#include "sim/graph/zoo_families.h"
#include "tests/fuzz/harness.h"
#include "tests/fuzz/text_mutator.h"

namespace {

constexpr std::string_view kWords[] = {
    "gpt",           "llama",        "bert",       "vit",     "gpt2",    "layers",
    "hidden",        "heads",        "seq",        "vocab",   "ffn",     "kv_heads",
    "image",         "patch",        "classes",    "gpt2:",   "1",       "2",
    "head_dim",      "tied",         "bias",       "qkv",     "qk_norm", "window",
    "window_layers", "global_every", "act",        "geglu",   "norms",   "both",
    "parallel",      "shared",       "rope_share", "softcap", "t5",      "target_seq",
    "buckets",       "sinks",        "experts"};
constexpr std::string_view kLines[] = {
    "gpt:layers=2,hidden=8,heads=2,seq=4,vocab=16",
    "llama:layers=2,hidden=8,heads=2,seq=4,vocab=16,window=2,global_every=2,qk_norm=head",
    "t5:layers=2,hidden=8,heads=2,seq=4,target_seq=3,vocab=16,buckets=4,max_distance=3"};
constexpr strata::Vocabulary kVocabulary = {kWords, kLines};

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return strata::mutate_text(data, size, max_size, seed, kVocabulary);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return strata::fuzz(data, size, [](std::string_view text) {
    if (!strata::in_family(text)) return;
    const strata::Graph graph = strata::build_of_family(text, 2);
    if (graph.layers().size() > 200) return;  // the others take too long to print
    if (strata::parse_model(strata::print_model(graph), "b.toml", 2) != graph) std::abort();
  });
}
