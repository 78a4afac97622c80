#include "sim/importers/onnx/node_readers.h"

#include <algorithm>
#include <vector>

namespace strata {
namespace {

// By name.
std::vector<KnownOp> all_known() {
  std::vector<KnownOp> all;
  for (const KnownOps ops :
       {activation_readers(), join_readers(), layout_readers(), linear_readers(), norm_readers(),
        opaque_readers(), pooling_readers(), token_readers()}) {
    all.insert(all.end(), ops.begin(), ops.end());
  }
  std::sort(all.begin(), all.end(), [](const KnownOp& a, const KnownOp& b) { return a.op < b.op; });
  return all;
}

}  // namespace

NodeReader find_node_reader(std::string_view op) {
  static const std::vector<KnownOp> kKnown = all_known();
  const auto at = std::lower_bound(kKnown.begin(), kKnown.end(), op,
                                   [](const KnownOp& a, std::string_view b) { return a.op < b; });
  return at != kKnown.end() && at->op == op ? at->read : nullptr;
}

NodeReader find_node_reader(const onnx::NodeProto& node) {
  return is_onnx_domain(node.domain()) ? find_node_reader(node.op_type()) : nullptr;
}

}  // namespace strata
