#pragma once

// The ops of an ONNX graph that have no reader here. Value.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <onnx/onnx_pb.h>

#include "sim/text/diagnostics.h"

namespace strata {

/// Of ONNX's own ops.
bool is_onnx_domain(const std::string& domain);

/// Each op with the nodes that want it. With `any_op` those that may be opaque are not among them:
/// ONNX's own, whose shapes its inference knows, but for If, Loop and Scan with graphs inside.
class UnknownOps {
 public:
  UnknownOps(int opset, bool any_op) : opset_(opset), any_op_(any_op) {}

  void add(const onnx::NodeProto& node, int number);
  void say(const Location& where, Diagnostics& wrong) const;

 private:
  struct Op {
    std::string name;
    bool may_be_opaque;
    auto operator<=>(const Op&) const = default;
  };

  bool may_be_opaque(const onnx::NodeProto& node) const;

  int opset_;
  bool any_op_;
  std::map<Op, std::vector<std::string>> nodes_;
};

}  // namespace strata
