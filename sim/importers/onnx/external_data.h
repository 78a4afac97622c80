#pragma once

// Values that an ONNX file keeps beside itself. What is opened stands in the model's folder or
// below it, whatever the model says: no absolute path, no "..", no link that leads out. Pure
// functions of the file system; thread-safe.

#include <cstdint>
#include <string>

#include <onnx/onnx_pb.h>

namespace strata {

/// The `size` bytes of the tensor's values, by its location, offset and length. `folder` is the
/// model's. Throws InputError that says what is wrong (not of which tensor).
std::string read_external_data(const onnx::TensorProto& tensor, const std::string& folder,
                               std::int64_t size);

}  // namespace strata
