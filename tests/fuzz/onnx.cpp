// An .onnx file. What has no reader here is an error in one half of the files, whose weights are
// read, too, and an opaque op in the other half: a hash of the bytes says which, so that a step
// costs one reading. A network that comes out prints as a model file that reads back the same.

#include <cstdlib>
#include <functional>

#include "sim/graph/model_file.h"
#include "sim/importers/onnx/read_onnx.h"
#include "tests/fuzz/harness.h"
#include "tests/fuzz/onnx_mutator.h"

namespace {

void print_and_read_back(const strata::Graph& graph) {
  const strata::Graph back = strata::parse_model(strata::print_model(graph), "back.toml", 2);
  if (back != graph) std::abort();
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return strata::mutate_onnx(data, size, max_size, seed);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* one, std::size_t one_size,
                                                 const std::uint8_t* other, std::size_t other_size,
                                                 std::uint8_t* to, std::size_t max_size,
                                                 unsigned seed) {
  const auto text = [](const std::uint8_t* data, std::size_t size) {
    return std::string_view(reinterpret_cast<const char*>(data), size);
  };
  return strata::splice_onnx(text(one, one_size), text(other, other_size), to, max_size, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace strata;
  return fuzz(data, size, [](std::string_view bytes) {
    const bool opaque = std::hash<std::string_view>()(bytes) % 2 == 1;
    const auto model =
        opaque ? parse_onnx(bytes, "a.onnx", 2, OnnxWeights::skip, OnnxUnsupported::opaque)
               : parse_onnx(bytes, "a.onnx", 2, OnnxWeights::read);
    print_and_read_back(model.graph);
  });
}
