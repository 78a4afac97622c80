#pragma once

// The numbers of ONNX tensors, wherever the format keeps them: as raw bytes, in typed fields, or in
// files beside the model. What is opened stands in the model's folder or below it, whatever the
// model says: no absolute path, no "..", no link that leads out. Pure functions of the model and
// the file system; thread-safe. All throw InputError that says what is wrong (not of which tensor).

#include <cstdint>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

namespace strata {

using TensorDims = std::vector<std::int64_t>;

TensorDims dims_of(const onnx::TensorProto& tensor);

/// "(64, 3, 7, 7)"
std::string print_dims(const TensorDims& dims);

/// Their product; at most kMaxElements.
std::int64_t element_count(const TensorDims& dims);

/// Whether the file, or one beside it, has its numbers: stripped models say the dims alone.
bool has_values(const onnx::TensorProto& tensor);

/// Of float, double, float16 and bfloat16 tensors, to the nearest float32; finite. External data is
/// sought in `folder`.
std::vector<float> float_values(const onnx::TensorProto& tensor, const std::string& folder);

/// The same in doubles, infinite numbers, too.
std::vector<double> any_values(const onnx::TensorProto& tensor, const std::string& folder);

/// Brings integers and truths that stand in other files into the model's own, where they can be
/// read and are at most `most`: they say shapes and positions.
void take_integers(onnx::GraphProto& graph, const std::string& folder, std::int64_t most);

/// Of int64 and int32 tensors within the file.
std::vector<std::int64_t> integer_values(const onnx::TensorProto& tensor);

/// The one element of a tensor of floats or integers.
double scalar_value(const onnx::TensorProto& tensor);

bool holds_floats(const onnx::TensorProto& tensor);
bool holds_integers(const onnx::TensorProto& tensor);

/// The `size` bytes of the tensor's values, by its location, offset and length. `folder` is the
/// model's. Throws InputError that says what is wrong (not of which tensor).
std::string read_external_data(const onnx::TensorProto& tensor, const std::string& folder,
                               std::int64_t size);

}  // namespace strata
