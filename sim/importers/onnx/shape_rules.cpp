#include "sim/importers/onnx/shape_rules.h"

#include <algorithm>
#include <array>

namespace strata {
namespace {

constexpr int kAll = -1;

struct KnownRule {
  std::string_view op;
  ShapeRule rule;   ///< none: split_dims
  int needs = 1;    ///< of so many inputs the dims must be known
  int outputs = 1;  ///< of so many, which have the same, it says the dims
};

constexpr std::array kRules = {
    KnownRule{"Add", broadcast_dims, kAll},
    KnownRule{"Attention", same_dims},
    KnownRule{"AveragePool", pooling_dims},
    KnownRule{"BatchNormalization", same_dims},
    KnownRule{"Cast", same_dims},
    KnownRule{"CastLike", same_dims},
    KnownRule{"Ceil", same_dims},
    KnownRule{"Clip", same_dims},
    KnownRule{"Concat", concat_dims, kAll},
    KnownRule{"ConstantOfShape", filled_dims, 0},
    KnownRule{"Conv", convolution_dims, 2},
    KnownRule{"Div", broadcast_dims, kAll},
    KnownRule{"Dropout", same_dims, 1, 2},
    KnownRule{"Elu", same_dims},
    KnownRule{"Equal", broadcast_dims, kAll},
    KnownRule{"Erf", same_dims},
    KnownRule{"Expand", expand_dims},
    KnownRule{"Flatten", flatten_dims},
    KnownRule{"Floor", same_dims},
    KnownRule{"Gather", gather_dims, 2},
    KnownRule{"Gelu", same_dims},
    KnownRule{"Gemm", gemm_dims, 2},
    KnownRule{"GlobalAveragePool", global_pooling_dims},
    KnownRule{"GlobalMaxPool", global_pooling_dims},
    KnownRule{"GroupNormalization", same_dims},
    KnownRule{"HardSigmoid", same_dims},
    KnownRule{"HardSwish", same_dims},
    KnownRule{"Identity", same_dims},
    KnownRule{"LRN", same_dims},
    KnownRule{"LayerNormalization", same_dims},
    KnownRule{"LeakyRelu", same_dims},
    KnownRule{"LogSoftmax", same_dims},
    KnownRule{"MatMul", matmul_dims, 2},
    KnownRule{"MaxPool", pooling_dims, 1, 2},
    KnownRule{"Mish", same_dims},
    KnownRule{"Mod", broadcast_dims, kAll},
    KnownRule{"Mul", broadcast_dims, kAll},
    KnownRule{"Pad", pad_dims},
    KnownRule{"RMSNormalization", same_dims},
    KnownRule{"ReduceL1", reduction_dims},
    KnownRule{"ReduceL2", reduction_dims},
    KnownRule{"ReduceLogSum", reduction_dims},
    KnownRule{"ReduceLogSumExp", reduction_dims},
    KnownRule{"ReduceMax", reduction_dims},
    KnownRule{"ReduceMean", reduction_dims},
    KnownRule{"ReduceMin", reduction_dims},
    KnownRule{"ReduceProd", reduction_dims},
    KnownRule{"ReduceSum", reduction_dims},
    KnownRule{"ReduceSumSquare", reduction_dims},
    KnownRule{"Relu", same_dims},
    KnownRule{"Reshape", reshape_dims},
    KnownRule{"Resize", resize_dims},
    KnownRule{"Round", same_dims},
    KnownRule{"Shape", shape_dims},
    KnownRule{"Sigmoid", same_dims},
    KnownRule{"Size", size_dims, 0},
    KnownRule{"Slice", slice_dims},
    KnownRule{"Softmax", same_dims},
    KnownRule{"Split", nullptr},
    KnownRule{"Squeeze", squeeze_dims},
    KnownRule{"Sub", broadcast_dims, kAll},
    KnownRule{"Sum", broadcast_dims, kAll},
    KnownRule{"Tanh", same_dims},
    KnownRule{"Transpose", transpose_dims},
    KnownRule{"Unsqueeze", unsqueeze_dims},
    KnownRule{"Upsample", resize_dims},
    KnownRule{"Where", broadcast_dims, kAll},
};

constexpr bool op_before(const KnownRule& a, const KnownRule& b) {
  return a.op < b.op;
}
static_assert(std::is_sorted(kRules.begin(), kRules.end(), op_before));

const KnownRule* find_rule(std::string_view op) {
  const auto at = std::lower_bound(kRules.begin(), kRules.end(), KnownRule{op, nullptr}, op_before);
  return at != kRules.end() && at->op == op ? &*at : nullptr;
}

bool knows_inputs(const KnownNode& node, int needs) {
  for (int i = 0; i < (needs == kAll ? node.input_count() : needs); ++i) {
    if (!node.knows(i)) return false;
  }
  return needs != kAll || node.input_count() > 0;
}

}  // namespace

bool has_shape_rule(std::string_view op) {
  return find_rule(op) != nullptr;
}

std::vector<MaybeDims> output_dims(const KnownNode& node) {
  const KnownRule& known = *find_rule(node.proto().op_type());
  const int count = node.proto().output_size();
  std::vector<MaybeDims> dims(static_cast<std::size_t>(count));
  if (count == 0 || !knows_inputs(node, known.needs)) return dims;
  if (known.rule == nullptr) return split_dims(node);
  std::fill_n(dims.begin(), std::min(count, known.outputs), known.rule(node));
  return dims;
}

}  // namespace strata
