// In place of the reader, where libonnx-dev was not there to build it.

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/importers/onnx/read_onnx.h"

namespace strata {

bool reads_onnx() {
  return false;
}

OnnxModel read_onnx(const std::string& file, std::int64_t, OnnxWeights, OnnxUnsupported,
                    const OpenDims&) {
  throw EnvironmentError(
      fmt::format("{}: this build reads no ONNX, for libonnx-dev was not there to build it; "
                  "allowed: a zoo name, or a file ending in .toml",
                  file));
}

OnnxModel parse_onnx(std::string_view, const std::string& file, std::int64_t batch,
                     OnnxWeights weights, OnnxUnsupported unsupported, const OpenDims& dims) {
  return read_onnx(file, batch, weights, unsupported, dims);
}

}  // namespace strata
