// Measured rows of kernels: read, and where they are sound, sorted, printed and read back equal.

#include <cstdlib>

#include "sim/profile/kernel_table.h"
#include "tests/fuzz/harness.h"
#include "tests/fuzz/text_mutator.h"

namespace {

constexpr std::string_view kWords[] = {"m",        "n",       "k",        "batch",
                                       "ms",       "heads",   "columns",  "seq",
                                       "head_dim", "tensors", "elements", "image"};
constexpr std::string_view kLines[] = {"m,n,k,batch,ms", "64,64,64,1,0.01", "# a comment"};
constexpr strata::Vocabulary kVocabulary = {kWords, kLines};

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return strata::mutate_text(data, size, max_size, seed, kVocabulary);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return strata::fuzz(data, size, [](std::string_view text) {
    const auto kernel = strata::kernel_of_header(text);
    if (!kernel) return;
    const auto rows = strata::sorted_rows(strata::parse_kernel_rows(*kernel, text, "a.csv"));
    const std::string printed = strata::print_kernel_rows(*kernel, rows);
    if (strata::parse_kernel_rows(*kernel, printed, "b.csv") != rows) std::abort();
  });
}
