// An .onnx file, read twice: with what has no reader here as an error, weights and all, and with it
// as opaque ops. A network that comes out prints as a model file that reads back the same.

#include <cstdlib>

#include "sim/graph/model_file.h"
#include "sim/importers/onnx/read_onnx.h"
#include "tests/fuzz/harness.h"

namespace {

void print_and_read_back(const strata::Graph& graph) {
  const strata::Graph back = strata::parse_model(strata::print_model(graph), "back.toml", 2);
  if (back != graph) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace strata;
  fuzz(data, size, [](std::string_view bytes) {
    print_and_read_back(parse_onnx(bytes, "a.onnx", 2, OnnxWeights::read).graph);
  });
  return fuzz(data, size, [](std::string_view bytes) {
    print_and_read_back(
        parse_onnx(bytes, "a.onnx", 2, OnnxWeights::skip, OnnxUnsupported::opaque).graph);
  });
}
