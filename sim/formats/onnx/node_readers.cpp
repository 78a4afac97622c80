#include "sim/formats/onnx/node_readers.h"

#include <algorithm>
#include <array>

namespace strata {
namespace {

struct KnownOp {
  std::string_view op;
  NodeReader read;
};

constexpr std::array kKnownOps = {
    KnownOp{"Add", read_add},
    KnownOp{"AveragePool", read_average_pool},
    KnownOp{"BatchNormalization", read_batch_norm},
    KnownOp{"Cast", read_alias},
    KnownOp{"CastLike", read_alias},
    KnownOp{"Clip", read_clip},
    KnownOp{"Concat", read_concat},
    KnownOp{"Constant", read_shape_part},
    KnownOp{"ConstantOfShape", read_shape_part},
    KnownOp{"Conv", read_convolution},
    KnownOp{"Div", read_division},
    KnownOp{"Dropout", read_dropout},
    KnownOp{"Elu", read_elu},
    KnownOp{"Erf", read_part_of_pattern},
    KnownOp{"Expand", read_shape_part},
    KnownOp{"Flatten", read_relabel},
    KnownOp{"Gather", read_shape_part},
    KnownOp{"Gelu", read_gelu},
    KnownOp{"Gemm", read_gemm},
    KnownOp{"GlobalAveragePool", read_global_average_pool},
    KnownOp{"GlobalMaxPool", read_global_max_pool},
    KnownOp{"HardSigmoid", read_hard_sigmoid},
    KnownOp{"HardSwish", read_hard_swish},
    KnownOp{"Identity", read_alias},
    KnownOp{"LRN", read_lrn},
    KnownOp{"LeakyRelu", read_leaky_relu},
    KnownOp{"LogSoftmax", read_softmax},
    KnownOp{"MatMul", read_matmul},
    KnownOp{"MaxPool", read_max_pool},
    KnownOp{"Mul", read_multiply},
    KnownOp{"Pad", read_pad},
    KnownOp{"ReduceMean", read_reduce_mean},
    KnownOp{"Relu", read_relu},
    KnownOp{"Reshape", read_relabel},
    KnownOp{"Resize", read_resize},
    KnownOp{"Shape", read_shape_part},
    KnownOp{"Sigmoid", read_sigmoid},
    KnownOp{"Size", read_shape_part},
    KnownOp{"Slice", read_shape_part},
    KnownOp{"Softmax", read_softmax},
    KnownOp{"Squeeze", read_relabel},
    KnownOp{"Sub", read_shape_part},
    KnownOp{"Sum", read_add},
    KnownOp{"Tanh", read_tanh},
    KnownOp{"Transpose", read_transpose},
    KnownOp{"Unsqueeze", read_relabel},
    KnownOp{"Upsample", read_resize},
};

constexpr bool before(const KnownOp& a, const KnownOp& b) {
  return a.op < b.op;
}
static_assert(std::is_sorted(kKnownOps.begin(), kKnownOps.end(), before));

}  // namespace

NodeReader find_node_reader(std::string_view op) {
  const auto at = std::lower_bound(kKnownOps.begin(), kKnownOps.end(), op,
                                   [](const KnownOp& a, std::string_view b) { return a.op < b; });
  return at != kKnownOps.end() && at->op == op ? at->read : nullptr;
}

NodeReader find_node_reader(const onnx::NodeProto& node) {
  return is_onnx_domain(node.domain()) ? find_node_reader(node.op_type()) : nullptr;
}

}  // namespace strata
