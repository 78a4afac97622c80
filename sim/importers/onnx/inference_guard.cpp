#include "sim/importers/onnx/inference_guard.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/importers/onnx/attributes.h"

namespace strata {
namespace {

using KnownDims = std::map<std::string, TensorDims, std::less<>>;

const TensorDims* dims_of_input(const onnx::NodeProto& node, int i, const KnownDims& dims) {
  if (i >= node.input_size()) return nullptr;
  const auto at = dims.find(node.input(i));
  return at == dims.end() ? nullptr : &at->second;
}

// For windows: two axes before those that they slide over.
void check_spatial(const TensorDims& input) {
  if (input.size() >= 3) return;
  throw InputError(
      fmt::format("its input is {}; allowed: spatial dims after two others", print_dims(input)));
}

void check_kernel(const onnx::NodeProto& node, const TensorDims& input) {
  const auto kernel = NodeAttributes(node).integers("kernel_shape");
  if (kernel.empty() || kernel.size() + 2 == input.size()) return;
  throw InputError(
      fmt::format("its kernel has {} dims, its input {}", kernel.size(), input.size() - 2));
}

void check_weight(const TensorDims& weight, const TensorDims& input) {
  const bool whole =
      std::all_of(weight.begin(), weight.end(), [](std::int64_t dim) { return dim > 0; });
  if (whole && weight.size() == input.size()) return;
  throw InputError(fmt::format("its weight is {}, its input {}; allowed: equally many dims",
                               print_dims(weight), print_dims(input)));
}

// Which input of a convolution the weight is; 0 of all other ops.
int weight_of(std::string_view op) {
  if (op == "Conv" || op == "ConvTranspose" || op == "ConvInteger") return 1;
  return op == "QLinearConv" ? 3 : 0;
}

void check_order(const onnx::NodeProto& node, const TensorDims& input) {
  std::vector<std::int64_t> order = NodeAttributes(node).integers("perm");
  if (!NodeAttributes(node).has("perm")) return;
  const std::vector<std::int64_t> said = order;
  std::vector<std::int64_t> all(input.size());
  std::iota(all.begin(), all.end(), 0);
  std::sort(order.begin(), order.end());
  if (order == all) return;
  throw InputError(fmt::format("perm is {}; allowed: each axis of {} once", print_dims(said),
                               print_dims(input)));
}

}  // namespace

void check_for_inference(const onnx::NodeProto& node, const KnownDims& dims) {
  const std::string_view op = node.op_type();
  const TensorDims* input = dims_of_input(node, 0, dims);
  if (!input) return;
  const int weight_at = weight_of(op);
  const bool slides = weight_at > 0 || op == "MaxPool" || op == "AveragePool" || op == "LpPool" ||
                      op == "MaxUnpool";
  if (slides || (op.starts_with("Global") && op.ends_with("Pool"))) check_spatial(*input);
  if (slides) check_kernel(node, *input);
  const TensorDims* weight = weight_at > 0 ? dims_of_input(node, weight_at, dims) : nullptr;
  if (weight) check_weight(*weight, *input);
  if (op == "Transpose") check_order(node, *input);
}

}  // namespace strata
