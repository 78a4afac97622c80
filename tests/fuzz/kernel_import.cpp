// Files of measured rows, made into the kernel tables of a profile, with what calls cost told apart
// and without.

#include <cstdlib>

#include "sim/kernels/import_tables.h"
#include "sim/profile/profile.h"
#include "tests/fuzz/harness.h"
#include "tests/fuzz/text_mutator.h"

namespace {

constexpr std::string_view kWords[] = {"m",       "n",   "k",        "batch",   "ms",       "heads",
                                       "columns", "seq", "head_dim", "tensors", "elements", "rows"};
constexpr std::string_view kLines[] = {"m,n,k,batch,ms", "64,64,64,1,0.01", "128,64,64,1,0.02",
                                       "# a comment"};
constexpr strata::Vocabulary kVocabulary = {kWords, kLines};

void import(std::string_view text, strata::CallOverheads overheads, double tolerance) {
  static const strata::Profile profile = strata::load_profile("v100");
  strata::KernelImport options;
  options.source = "measured";
  options.licence = "CC0";
  options.date = "2024-01-01";
  options.overheads = overheads;
  options.tolerance = tolerance;
  const strata::KernelSource source{"a.csv", std::string(text), "relu"};
  for (const auto& table : strata::import_tables(profile, {source}, options)) {
    if (table.table.rows.size() > table.read) std::abort();
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return strata::mutate_text(data, size, max_size, seed, kVocabulary);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  strata::fuzz(data, size,
               [](std::string_view text) { import(text, strata::CallOverheads::none, 0); });
  return strata::fuzz(
      data, size, [](std::string_view text) { import(text, strata::CallOverheads::growing, 0.1); });
}
