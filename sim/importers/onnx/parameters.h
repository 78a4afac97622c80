#pragma once

// The values of a network's parameters, from the tensors of an ONNX file into our orders. Pure;
// thread-safe.

#include <string>
#include <vector>

#include "sim/importers/onnx/network.h"

namespace strata {

/// Whether the file has the layer's values.
bool has_values(const OnnxParameters& parameters);

/// How many layers read a tensor that another one reads, too. Copies by an Identity do not count:
/// PyTorch makes them of tensors that happen to have equal values.
std::size_t count_sharing(const OnnxNetwork& network);

/// By layer, as OnnxModel has them. Throws InputError "FILE: initializer 'NAME': ..." with a line
/// for each of the first ten errors.
std::vector<std::vector<float>> read_parameters(const OnnxNetwork& network,
                                                const std::string& file);

}  // namespace strata
