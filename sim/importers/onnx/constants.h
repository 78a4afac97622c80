#pragma once

// What nodes compute from constants alone: masks of attentions, numbers of positions, cosines of
// rotary positions, scales. Evaluated where a reader asks, each value once. Not thread-safe.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

#include "sim/importers/onnx/shapes.h"
#include "sim/importers/onnx/tensor_values.h"

namespace strata {

/// Of one tensor, a mask of 4,096 tokens, and of all that one needs. Fuzzers would spend their time
/// on large arrays.
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
inline constexpr std::int64_t kMostEvaluated = std::int64_t{1} << 14;
inline constexpr std::int64_t kMostInAll = std::int64_t{1} << 17;
#else
inline constexpr std::int64_t kMostEvaluated = std::int64_t{1} << 24;
inline constexpr std::int64_t kMostInAll = std::int64_t{1} << 27;
#endif

/// Numbers of any type, row-major; truths are 0 and 1.
struct ConstantTensor {
  TensorDims dims;
  std::vector<double> values;
  bool integers = false;
};

/// Its numbers as the places, axes and extents that an op takes them for; one far off, or none at
/// all, is an integer that no tensor has a place for.
std::vector<std::int64_t> integers_of(const ConstantTensor& numbers);

class Constants {
 public:
  /// Both must outlive this. External data is sought in `folder`.
  Constants(const onnx::GraphProto& graph, const OnnxShapes& shapes, std::string folder);

  /// None where it depends on the network's data, is too large, its values are not in the file
  /// itself, or an op of it is not known here.
  std::shared_ptr<const ConstantTensor> find(const std::string& name);

 private:
  std::optional<ConstantTensor> evaluate(const std::string& name, int depth);
  std::optional<ConstantTensor> evaluate(const onnx::NodeProto& node, const std::string& name,
                                         int depth);
  std::shared_ptr<const ConstantTensor> find(const std::string& name, int depth);

  void forget_large();

  const OnnxShapes& shapes_;
  std::string folder_;
  std::int64_t in_all_ = 0;  ///< elements that are known
  std::map<std::string, const onnx::TensorProto*, std::less<>> tensors_;
  std::map<std::string, const onnx::NodeProto*, std::less<>> writers_;
  std::map<std::string, std::shared_ptr<const ConstantTensor>, std::less<>> known_;
};

/// What one node computes of constants; an absent input is null. `dims` are its output's where
/// inference knows them. None for an op or a form that is not known.
std::optional<ConstantTensor> computed(const onnx::NodeProto& node,
                                       const std::vector<const ConstantTensor*>& inputs,
                                       const TensorDims* dims);

}  // namespace strata
