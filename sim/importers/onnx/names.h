#pragma once

// Names from ONNX files, which may hold anything: how messages show them, and what layers are
// called after them. Pure functions; thread-safe.

#include <map>
#include <string>
#include <string_view>

#include <onnx/onnx_pb.h>

namespace strata {

inline constexpr std::size_t kLongest = 400;  ///< of what a vendor's library says

/// For a message: at most `longest` characters, each printable ASCII; '?' for others.
std::string shown(std::string_view name, std::size_t longest = 100);

/// "node /features/features.0/Conv (Conv)", or "node #12 (Conv)" where it has no name.
std::string shown(const onnx::NodeProto& node, int number);

/// What a name reads like as a layer's: letters, digits, '_' and '-'. Of a path each part that the
/// next one begins with goes: "/features/features.0/Conv" is features_0_Conv. May be empty.
std::string layer_name(std::string_view name);

/// Of PyTorch's module that a node is from, where the exporter says so: "features.0.1". That of a
/// layer with parameters is its weight's, whatever was fused into it.
std::string module_of(const onnx::NodeProto& node);

/// Layer names that are taken.
class LayerNames {
 public:
  /// `wanted`, or `wanted` with a number from _2 on that makes it new.
  std::string take(const std::string& wanted);
  /// That `wanted` gave last; no layer has it after all.
  void give_back(const std::string& wanted, const std::string& name);

 private:
  std::map<std::string, int> taken_;  ///< and the number to try next
};

}  // namespace strata
