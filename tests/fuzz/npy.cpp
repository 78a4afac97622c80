// An .npy file: read as floats and as integers and, where it is sound, printed and read back to the
// same bytes.

#include "sim/importers/npy/npy.h"

#include <cstdlib>

#include "tests/fuzz/harness.h"

namespace {

template <class T>
void print_and_read_back(const strata::NpyArray<T>& array,
                         strata::NpyArray<T> (*parse)(std::string_view, const std::string&)) {
  const std::string text = strata::print_npy(array.shape, array.values);
  const strata::NpyArray<T> back = parse(text, "b.npy");
  if (strata::print_npy(back.shape, back.values) != text) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  strata::fuzz(data, size, [](std::string_view bytes) {
    print_and_read_back(strata::parse_npy_floats(bytes, "a.npy"), strata::parse_npy_floats);
  });
  return strata::fuzz(data, size, [](std::string_view bytes) {
    print_and_read_back(strata::parse_npy_integers(bytes, "a.npy"), strata::parse_npy_integers);
  });
}
