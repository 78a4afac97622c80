#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "sim/importers/onnx/attributes.h"
#include "sim/importers/onnx/integer_folding.h"

namespace strata {
namespace {

using Values = std::vector<std::int64_t>;
using Folded = std::optional<Values>;
using Inputs = std::vector<KnownIntegers>;

// Row-major.
std::vector<std::int64_t> strides_of(const TensorDims& dims) {
  std::vector<std::int64_t> strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

// How an axis of the output walks through the input: from where, and how far with each element.
struct Walk {
  std::int64_t first = 0, step = 0;
};

// The elements of a tensor of these dims, in the order of the output's.
Values walked(const Values& from, const TensorDims& dims, const std::vector<Walk>& walks) {
  Values result;
  TensorDims at(dims.size(), 0);
  for (std::int64_t count = element_count(dims); count > 0; --count) {
    std::int64_t place = 0;
    for (std::size_t i = 0; i < at.size(); ++i) place += walks[i].first + at[i] * walks[i].step;
    result.push_back(from[static_cast<std::size_t>(place)]);
    for (std::size_t i = at.size(); i-- > 0 && ++at[i] == dims[i];) at[i] = 0;
  }
  return result;
}

// Of each axis of the output the input's; none where perm makes no sense. ONNX's default turns all
// axes round.
std::optional<Values> order_of(const onnx::NodeProto& node, std::size_t rank) {
  const NodeAttributes attributes(node);
  Values all(rank);
  std::iota(all.begin(), all.end(), 0);
  if (!attributes.has("perm")) return Values(all.rbegin(), all.rend());
  Values order = attributes.integers("perm");
  const bool each_once = std::is_permutation(order.begin(), order.end(), all.begin(), all.end());
  return each_once ? std::optional(order) : std::nullopt;
}

// Since opset 10 the numbers of a Slice are inputs.
Values numbers_of(const onnx::NodeProto& node, const Inputs& inputs, std::size_t i,
                  const char* attribute) {
  if (inputs.size() == 1) return NodeAttributes(node).integers(attribute);
  return i < inputs.size() ? inputs[i].values : Values{};
}

// Of `count` elements on an axis of `extent`; none where they would not lie in it.
std::optional<Walk> slice_of(std::int64_t extent, std::int64_t count, std::int64_t start,
                             std::int64_t step) {
  if (count == 0) return Walk{};
  if (extent == 0) return std::nullopt;
  step = std::clamp(step, -kMostFolded, kMostFolded);  // a longer one takes one element, too
  if (start < 0) start += extent;
  start = std::clamp<std::int64_t>(start, 0, extent - 1);
  const std::int64_t last = start + (count - 1) * step;
  return last >= 0 && last < extent ? std::optional(Walk{start, step}) : std::nullopt;
}

struct Cut {
  Values starts, axes, steps;
};

std::optional<Cut> cut_of(const onnx::NodeProto& node, const Inputs& inputs) {
  Cut cut{numbers_of(node, inputs, 1, "starts"), numbers_of(node, inputs, 3, "axes"),
          numbers_of(node, inputs, 4, "steps")};
  const std::size_t count = cut.starts.size();
  if (cut.axes.empty()) {
    cut.axes.resize(count);
    std::iota(cut.axes.begin(), cut.axes.end(), 0);
  }
  if (cut.steps.empty()) cut.steps.assign(count, 1);
  const bool whole = cut.axes.size() == count && cut.steps.size() == count;
  return whole ? std::optional(std::move(cut)) : std::nullopt;
}

}  // namespace

Folded transpose_table(const onnx::NodeProto& node, const KnownIntegers& input,
                       const TensorDims& dims) {
  const auto order = order_of(node, input.dims.size());
  if (!order || order->size() != dims.size()) return std::nullopt;
  const std::vector<std::int64_t> strides = strides_of(input.dims);
  std::vector<Walk> walks;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const auto axis = static_cast<std::size_t>((*order)[i]);
    if (input.dims[axis] != dims[i]) return std::nullopt;
    walks.push_back({0, strides[axis]});
  }
  return walked(input.values, dims, walks);
}

Folded slice_table(const onnx::NodeProto& node, const Inputs& inputs, const TensorDims& dims) {
  const KnownIntegers& data = inputs[0];
  const auto rank = std::ssize(data.dims);
  const auto cut = cut_of(node, inputs);
  if (!cut || std::ssize(dims) != rank) return std::nullopt;
  if (!std::equal(dims.begin(), dims.end(), data.dims.begin(), std::less_equal<>()))
    return std::nullopt;
  const std::vector<std::int64_t> strides = strides_of(data.dims);
  std::vector<Walk> walks(strides.size());
  for (std::size_t i = 0; i < walks.size(); ++i) walks[i].step = strides[i];
  for (std::size_t i = 0; i < cut->axes.size(); ++i) {
    const std::int64_t said = cut->axes[i];
    if (said < -rank || said >= rank) return std::nullopt;
    const auto axis = static_cast<std::size_t>(said < 0 ? said + rank : said);
    const auto walk = slice_of(data.dims[axis], dims[axis], cut->starts[i], cut->steps[i]);
    if (!walk) return std::nullopt;
    walks[axis] = {walk->first * strides[axis], walk->step * strides[axis]};
  }
  return walked(data.values, dims, walks);
}

}  // namespace strata
