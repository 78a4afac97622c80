#pragma once

// Networks from ONNX files (opset 7 to 23), as PyTorch and others export them: docs/models.md says
// what of ONNX is read. Each layer is held to the shapes that are inferred of the file (shapes.h),
// so that a Graph which comes out of here has the extents that its file means. The batch of the
// file, symbolic or fixed, gives way to the one that is asked for; other symbolic dims of its
// inputs must be given a number by name. A network with an output of (n, c), or (n, w, c) of
// tokens, ends in softmax cross-entropy there, as those of the zoo do.
//
// Pure functions; thread-safe. In a build without ONNX every file is an EnvironmentError.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/graph/graph.h"
#include "sim/graph/open_dims.h"

namespace strata {

/// Whether values of parameters are wanted, which may be large and stand in files of their own.
enum class OnnxWeights : std::uint8_t { skip, read };

/// What becomes of nodes that have no reader here, or that it refuses: errors, or opaque ops
/// (op.h), which can be predicted but not run.
enum class OnnxUnsupported : std::uint8_t { refuse, opaque };

struct OnnxModel {
  Graph graph;
  /// By layer, its weight and then its bias, row-major: (O, I/groups, [kD,] [kH,] kW), (O, I) or
  /// (C); of positions (C, positions). Empty where the layer has none or the file has no values for
  /// it, and where skipped.
  std::vector<std::vector<float>> weights;
  /// What was left out or added, for people: "the softmax at its end is left out: ...".
  std::vector<std::string> notes;
};

/// Whether this build reads ONNX at all.
bool reads_onnx();

/// Throws InputError "FILE: node NAME (Op): what is wrong; what is allowed" with a line for each of
/// the first ten errors, and EnvironmentError where this build reads no ONNX. Files are at most 2
/// GiB, as protobuf has it; larger networks keep their values in external files, which must stand
/// in the model's folder or below it.
OnnxModel read_onnx(const std::string& file, std::int64_t batch,
                    OnnxWeights weights = OnnxWeights::skip,
                    OnnxUnsupported unsupported = OnnxUnsupported::refuse,
                    const OpenDims& dims = {});

/// The same of bytes; `file` says where they come from, and where external files stand.
OnnxModel parse_onnx(std::string_view bytes, const std::string& file, std::int64_t batch,
                     OnnxWeights weights = OnnxWeights::skip,
                     OnnxUnsupported unsupported = OnnxUnsupported::refuse,
                     const OpenDims& dims = {});

}  // namespace strata
