// The ops of ONNX with which exporters compute masks, positions and their cosines.

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <string_view>

#include "sim/importers/onnx/attributes.h"
#include "sim/importers/onnx/constants.h"

namespace strata {
namespace {

using Result = std::optional<ConstantTensor>;
using ConstantInputs = std::vector<const ConstantTensor*>;

// Steps from one element to the next along each axis of `dims`, for a tensor that is spread to it.
TensorDims steps_in(const TensorDims& own, const TensorDims& dims) {
  TensorDims steps(dims.size(), 0);
  std::int64_t step = 1;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const std::size_t from = own.size() - 1 - i, to = dims.size() - 1 - i;
    if (own[from] > 1) steps[to] = step;
    if (__builtin_mul_overflow(step, own[from], &step)) step = 0;  // the tensor has no elements
  }
  return steps;
}

// visit(places) for each element of `dims`, row-major: where it stands in each tensor.
template <std::size_t N, class Visit>
void each_place(const TensorDims& dims, const std::array<TensorDims, N>& steps,
                const Visit& visit) {
  const std::int64_t count = element_count(dims);
  TensorDims at(dims.size(), 0);
  std::array<std::int64_t, N> places{};
  for (std::int64_t i = 0; i < count; ++i) {
    visit(places);
    for (std::size_t axis = dims.size(); axis-- > 0;) {
      const bool ends = ++at[axis] == dims[axis];
      for (std::size_t k = 0; k < N; ++k)
        places[k] += ends ? -steps[k][axis] * (dims[axis] - 1) : steps[k][axis];
      if (!ends) break;
      at[axis] = 0;
    }
  }
}

std::optional<TensorDims> spread_dims(const TensorDims& a, const TensorDims& b) {
  TensorDims dims = a.size() < b.size() ? b : a;
  const TensorDims& other = a.size() < b.size() ? a : b;
  for (std::size_t i = 0; i < other.size(); ++i) {
    std::int64_t& dim = dims[dims.size() - other.size() + i];
    if (dim != other[i] && dim != 1 && other[i] != 1) return std::nullopt;
    if (dim == 1) dim = other[i];
  }
  if (element_count(dims) > kMostEvaluated) return std::nullopt;
  return dims;
}

Result expanded(const ConstantTensor& input, const TensorDims& shape) {
  const auto dims = spread_dims(input.dims, shape);
  if (!dims) return std::nullopt;
  ConstantTensor result{*dims, {}, input.integers};
  result.values.reserve(static_cast<std::size_t>(element_count(*dims)));
  each_place<1>(*dims, {steps_in(input.dims, *dims)}, [&](const auto& at) {
    result.values.push_back(input.values[static_cast<std::size_t>(at[0])]);
  });
  return result;
}

using Binary = double (*)(double, double);

Binary binary(std::string_view op, bool integers) {
  if (op == "Add") return [](double a, double b) { return a + b; };
  if (op == "Sub") return [](double a, double b) { return a - b; };
  if (op == "Mul") return [](double a, double b) { return a * b; };
  if (op == "Div" && integers) return [](double a, double b) { return std::trunc(a / b); };
  if (op == "Div") return [](double a, double b) { return a / b; };
  if (op == "Mod") return [](double a, double b) { return a - b * std::floor(a / b); };
  if (op == "Pow") return [](double a, double b) { return std::pow(a, b); };
  if (op == "Max") return [](double a, double b) { return std::max(a, b); };
  if (op == "Min") return [](double a, double b) { return std::min(a, b); };
  if (op == "Equal") return [](double a, double b) { return a == b ? 1.0 : 0.0; };
  if (op == "Less") return [](double a, double b) { return a < b ? 1.0 : 0.0; };
  if (op == "LessOrEqual") return [](double a, double b) { return a <= b ? 1.0 : 0.0; };
  if (op == "Greater") return [](double a, double b) { return a > b ? 1.0 : 0.0; };
  if (op == "GreaterOrEqual") return [](double a, double b) { return a >= b ? 1.0 : 0.0; };
  if (op == "And") return [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; };
  if (op == "Or") return [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; };
  return nullptr;
}

bool is_truth(std::string_view op) {
  constexpr std::array<std::string_view, 7> kTruths = {
      "And", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Or"};
  return std::find(kTruths.begin(), kTruths.end(), op) != kTruths.end();
}

Result paired(std::string_view op, const ConstantTensor& a, const ConstantTensor& b) {
  const auto dims = spread_dims(a.dims, b.dims);
  const Binary f = binary(op, a.integers && b.integers);
  if (!dims || f == nullptr) return std::nullopt;
  ConstantTensor result{*dims, {}, (a.integers && b.integers) || is_truth(op)};
  result.values.reserve(static_cast<std::size_t>(element_count(*dims)));
  each_place<2>(*dims, {steps_in(a.dims, *dims), steps_in(b.dims, *dims)}, [&](const auto& at) {
    result.values.push_back(
        f(a.values[static_cast<std::size_t>(at[0])], b.values[static_cast<std::size_t>(at[1])]));
  });
  return result;
}

using Unary = double (*)(double);

Unary unary(std::string_view op) {
  if (op == "Identity" || op == "CastLike") return [](double x) { return x; };
  if (op == "Not") return [](double x) { return x == 0 ? 1.0 : 0.0; };
  if (op == "Neg") return [](double x) { return -x; };
  if (op == "Cos") return [](double x) { return std::cos(x); };
  if (op == "Sin") return [](double x) { return std::sin(x); };
  if (op == "Exp") return [](double x) { return std::exp(x); };
  if (op == "Log") return [](double x) { return std::log(x); };
  if (op == "Sqrt") return [](double x) { return std::sqrt(x); };
  if (op == "Reciprocal") return [](double x) { return 1 / x; };
  if (op == "Floor") return [](double x) { return std::floor(x); };
  if (op == "Ceil") return [](double x) { return std::ceil(x); };
  if (op == "Abs") return [](double x) { return std::abs(x); };
  return nullptr;
}

Result cast(const onnx::NodeProto& node, ConstantTensor input) {
  const auto to = NodeAttributes(node).integer("to", 0);
  onnx::TensorProto type;
  type.set_data_type(static_cast<int>(to));
  const bool truths = to == onnx::TensorProto::BOOL;
  input.integers = !holds_floats(type);
  for (double& value : input.values) {
    if (truths) value = value != 0 ? 1 : 0;
    if (input.integers) value = std::trunc(value);
  }
  return input;
}

Result chosen(const ConstantTensor& truths, const ConstantTensor& yes, const ConstantTensor& no) {
  const auto both = spread_dims(yes.dims, no.dims);
  const auto dims = both ? spread_dims(truths.dims, *both) : std::nullopt;
  if (!dims) return std::nullopt;
  ConstantTensor result{*dims, {}, yes.integers && no.integers};
  result.values.reserve(static_cast<std::size_t>(element_count(*dims)));
  each_place<3>(*dims,
                {steps_in(truths.dims, *dims), steps_in(yes.dims, *dims), steps_in(no.dims, *dims)},
                [&](const auto& at) {
                  const auto place = [&](std::size_t k) { return static_cast<std::size_t>(at[k]); };
                  result.values.push_back(truths.values[place(0)] != 0 ? yes.values[place(1)]
                                                                       : no.values[place(2)]);
                });
  return result;
}

Result concatenated(const onnx::NodeProto& node, const ConstantInputs& inputs) {
  if (std::ranges::find(inputs, nullptr) != inputs.end()) return std::nullopt;
  const std::size_t axis =
      checked_axis(NodeAttributes(node).integer("axis", 0), inputs[0]->dims.size());
  ConstantTensor result{inputs[0]->dims, {}, inputs[0]->integers};
  result.dims[axis] = 0;
  for (const ConstantTensor* input : inputs) {
    if (input->dims.size() != result.dims.size()) return std::nullopt;
    result.dims[axis] += input->dims[axis];
  }
  const auto turns =
      element_count({result.dims.begin(), result.dims.begin() + static_cast<std::ptrdiff_t>(axis)});
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    for (const ConstantTensor* input : inputs) {
      const auto part = std::ssize(input->values) / turns;
      const auto from = input->values.begin() + turn * part;
      result.values.insert(result.values.end(), from, from + part);
    }
  }
  return result;
}

// Along one axis the elements at these places.
ConstantTensor taken(const ConstantTensor& input, std::size_t axis,
                     const std::vector<std::int64_t>& places) {
  ConstantTensor result{input.dims, {}, input.integers};
  result.dims[axis] = std::ssize(places);
  const auto split = static_cast<std::ptrdiff_t>(axis);
  const auto outer = element_count({input.dims.begin(), input.dims.begin() + split});
  const auto inner = element_count({input.dims.begin() + split + 1, input.dims.end()});
  for (std::int64_t o = 0; o < outer; ++o) {
    for (const std::int64_t place : places) {
      const auto from = input.values.begin() + (o * input.dims[axis] + place) * inner;
      result.values.insert(result.values.end(), from, from + inner);
    }
  }
  return result;
}

Result gathered(const onnx::NodeProto& node, const ConstantTensor& data,
                const ConstantTensor& indices) {
  if (data.dims.empty()) return std::nullopt;
  const std::size_t axis = checked_axis(NodeAttributes(node).integer("axis", 0), data.dims.size());
  if (data.dims[axis] == 0) return std::nullopt;
  std::vector<std::int64_t> places;
  for (const std::int64_t index : integers_of(indices)) {
    const std::int64_t place = index + (index < 0 ? data.dims[axis] : 0);
    if (place < 0 || place >= data.dims[axis]) return std::nullopt;
    places.push_back(place);
  }
  if (std::ssize(places) * std::ssize(data.values) / data.dims[axis] > kMostEvaluated)
    return std::nullopt;
  ConstantTensor result = taken(data, axis, places);
  const auto at = result.dims.erase(result.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  result.dims.insert(at, indices.dims.begin(), indices.dims.end());
  return result;
}

// Of whole tuples of indices, without batch dims.
Result gathered_points(const onnx::NodeProto& node, const ConstantTensor& data,
                       const ConstantTensor& indices) {
  if (NodeAttributes(node).integer("batch_dims", 0) != 0 || indices.dims.empty())
    return std::nullopt;
  const auto depth = static_cast<std::size_t>(indices.dims.back());
  if (depth == 0 || depth > data.dims.size()) return std::nullopt;
  const auto split = static_cast<std::ptrdiff_t>(depth);
  const auto inner = element_count({data.dims.begin() + split, data.dims.end()});
  const std::vector<std::int64_t> numbers = integers_of(indices);
  ConstantTensor result{{indices.dims.begin(), indices.dims.end() - 1}, {}, data.integers};
  result.dims.insert(result.dims.end(), data.dims.begin() + split, data.dims.end());
  if (element_count(result.dims) > kMostEvaluated) return std::nullopt;
  for (std::size_t i = 0; i + depth <= numbers.size(); i += depth) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < depth; ++d) {
      std::int64_t index = numbers[i + d];
      if (index < 0) index += data.dims[d];
      if (index < 0 || index >= data.dims[d]) return std::nullopt;
      place = place * data.dims[d] + index;
    }
    const auto from = data.values.begin() + place * inner;
    result.values.insert(result.values.end(), from, from + inner);
  }
  return result;
}

Result gathered_elements(const onnx::NodeProto& node, const ConstantTensor& data,
                         const ConstantTensor& indices) {
  if (data.dims.size() != indices.dims.size() || data.dims.empty()) return std::nullopt;
  const std::size_t axis = checked_axis(NodeAttributes(node).integer("axis", 0), data.dims.size());
  TensorDims steps(data.dims.size(), 1);
  for (std::size_t i = data.dims.size() - 1; i-- > 0;) steps[i] = steps[i + 1] * data.dims[i + 1];
  const std::int64_t along = steps[axis];
  for (std::size_t i = 0; i < data.dims.size(); ++i) {
    if (i != axis && indices.dims[i] > data.dims[i]) return std::nullopt;
  }
  steps[axis] = 0;
  const std::vector<std::int64_t> numbers = integers_of(indices);
  ConstantTensor result{indices.dims, {}, data.integers};
  bool inside = true;
  std::size_t next = 0;
  each_place<1>(indices.dims, {steps}, [&](const auto& at) {
    std::int64_t index = numbers[next++];
    if (index < 0) index += data.dims[axis];
    inside = inside && index >= 0 && index < data.dims[axis];
    result.values.push_back(inside ? data.values[static_cast<std::size_t>(at[0] + index * along)]
                                   : 0);
  });
  return inside ? std::optional(result) : std::nullopt;
}

Result cut(const ConstantInputs& inputs) {
  const auto of = [&](std::size_t i) {
    return i < inputs.size() && inputs[i] != nullptr ? integers_of(*inputs[i])
                                                     : std::vector<std::int64_t>{};
  };
  const auto starts = of(1), ends = of(2);
  auto axes = of(3), steps = of(4);
  if (axes.empty()) {
    axes.resize(starts.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    return std::nullopt;
  ConstantTensor result = *inputs[0];
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::size_t axis = checked_axis(axes[i], result.dims.size());
    const std::int64_t extent = result.dims[axis];
    const auto clamped = [&](std::int64_t at) {
      return std::clamp<std::int64_t>(at < 0 ? at + extent : at, 0, extent);
    };
    if (steps[i] < 1) return std::nullopt;
    std::vector<std::int64_t> places;
    for (std::int64_t at = clamped(starts[i]); at < clamped(ends[i]); at += steps[i])
      places.push_back(at);
    result = taken(result, axis, places);
  }
  return result;
}

Result transposed(const onnx::NodeProto& node, const ConstantTensor& input) {
  const std::size_t rank = input.dims.size();
  std::vector<std::int64_t> order = NodeAttributes(node).integers("perm");
  if (order.empty()) {
    order.resize(rank);
    std::iota(order.rbegin(), order.rend(), 0);
  }
  if (!has_each_axis_once(order, rank)) return std::nullopt;
  const TensorDims own = steps_in(input.dims, input.dims);
  TensorDims steps(rank), dims(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const auto from = static_cast<std::size_t>(order[i]);
    dims[i] = input.dims[from];
    steps[i] = own[from];
  }
  ConstantTensor result{dims, {}, input.integers};
  each_place<1>(dims, {steps}, [&](const auto& at) {
    result.values.push_back(input.values[static_cast<std::size_t>(at[0])]);
  });
  return result;
}

Result triangle(const onnx::NodeProto& node, const ConstantInputs& inputs) {
  ConstantTensor result = *inputs[0];
  if (result.dims.size() < 2) return std::nullopt;
  const bool upper = NodeAttributes(node).integer("upper", 1) != 0;
  const bool shifts = inputs.size() > 1 && inputs[1] != nullptr;
  if (shifts && inputs[1]->values.size() != 1) return std::nullopt;
  const std::int64_t k = shifts ? integers_of(*inputs[1]).front() : 0;
  const std::int64_t columns = result.dims.back(), rows = result.dims[result.dims.size() - 2];
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const std::int64_t row = at / columns % rows, column = at % columns;
    if (upper ? column < row + k : column > row + k) result.values[i] = 0;
  }
  return result;
}

Result range(const ConstantInputs& inputs) {
  for (const ConstantTensor* input : inputs) {
    if (input == nullptr || input->values.size() != 1) return std::nullopt;
  }
  const double from = inputs[0]->values[0], to = inputs[1]->values[0], step = inputs[2]->values[0];
  const double count = std::ceil((to - from) / step);
  if (!(count >= 0 && count <= static_cast<double>(kMostEvaluated))) return std::nullopt;
  ConstantTensor result{{static_cast<std::int64_t>(count)}, {}, inputs[0]->integers};
  for (double i = 0; i < count; ++i) result.values.push_back(from + i * step);
  return result;
}

Result summed(const onnx::NodeProto& node, const ConstantTensor& input,
              const ConstantTensor& axis_at) {
  const NodeAttributes attributes(node);
  if (attributes.integer("exclusive", 0) != 0 || attributes.integer("reverse", 0) != 0 ||
      axis_at.values.size() != 1)
    return std::nullopt;
  const std::size_t axis = checked_axis(integers_of(axis_at).front(), input.dims.size());
  const auto inner =
      element_count({input.dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1, input.dims.end()});
  ConstantTensor result = input;
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    if (at / inner % input.dims[axis] > 0)
      result.values[i] += result.values[static_cast<std::size_t>(at - inner)];
  }
  return result;
}

// Rows by columns, of equally many matrices or of one with each.
Result multiplied(const ConstantTensor& a, const ConstantTensor& b) {
  if (a.dims.size() < 2 || b.dims.size() < 2) return std::nullopt;
  const std::int64_t rows = a.dims[a.dims.size() - 2], inner = a.dims.back(),
                     columns = b.dims.back();
  if (b.dims[b.dims.size() - 2] != inner) return std::nullopt;
  const TensorDims a_outer(a.dims.begin(), a.dims.end() - 2),
      b_outer(b.dims.begin(), b.dims.end() - 2);
  const auto outer = spread_dims(a_outer, b_outer);
  if (!outer || element_count(*outer) * rows * columns > kMostEvaluated) return std::nullopt;
  ConstantTensor result{*outer, {}, a.integers && b.integers};
  result.dims.insert(result.dims.end(), {rows, columns});
  each_place<2>(*outer, {steps_in(a_outer, *outer), steps_in(b_outer, *outer)},
                [&](const auto& at) {
                  const auto* left = a.values.data() + at[0] * rows * inner;
                  const auto* right = b.values.data() + at[1] * inner * columns;
                  for (std::int64_t i = 0; i < rows * columns; ++i) {
                    double sum = 0;
                    for (std::int64_t k = 0; k < inner; ++k)
                      sum += left[i / columns * inner + k] * right[k * columns + i % columns];
                    result.values.push_back(sum);
                  }
                });
  return result;
}

Result filled(const onnx::NodeProto& node, const ConstantTensor& shape) {
  const TensorDims dims = integers_of(shape);
  if (element_count(dims) > kMostEvaluated) return std::nullopt;
  const onnx::TensorProto* value = NodeAttributes(node).tensor("value");
  double number = 0;
  if (value != nullptr && value->data_type() == onnx::TensorProto::BOOL) {
    if (value->raw_data().empty() && value->int32_data().empty()) return std::nullopt;
    number = value->has_raw_data() ? value->raw_data().front() : value->int32_data(0);
  } else if (value != nullptr) {
    number = scalar_value(*value);
  }
  return ConstantTensor{dims,
                        std::vector<double>(static_cast<std::size_t>(element_count(dims)), number),
                        value != nullptr && !holds_floats(*value)};
}

Result in_dims(ConstantTensor input, const TensorDims* dims) {
  if (dims == nullptr || element_count(*dims) != std::ssize(input.values)) return std::nullopt;
  input.dims = *dims;
  return input;
}

Result unsqueezed(const onnx::NodeProto& node, const ConstantInputs& inputs) {
  const std::vector<std::int64_t> axes = inputs.size() > 1 && inputs[1] != nullptr
                                             ? integers_of(*inputs[1])
                                             : NodeAttributes(node).integers("axes");
  const std::size_t rank = inputs[0]->dims.size() + axes.size();
  const std::vector<std::size_t> at = checked_axes(axes, rank);
  ConstantTensor result = *inputs[0];
  for (const std::size_t axis : at)
    result.dims.insert(result.dims.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  return result;
}

bool is_layout(std::string_view op) {
  return op == "Reshape" || op == "Squeeze" || op == "Flatten";
}

Result any_computed(const onnx::NodeProto& node, const ConstantInputs& inputs,
                    const TensorDims* dims) {
  const std::string_view op = node.op_type();
  const ConstantTensor& first = *inputs[0];
  const bool pair = inputs.size() == 2 && inputs[1] != nullptr;
  if (is_layout(op)) return in_dims(first, dims);
  if (op == "Unsqueeze") return unsqueezed(node, inputs);
  if (op == "Cast") return cast(node, first);
  if (op == "Concat") return concatenated(node, inputs);
  if (op == "Slice" && inputs.size() > 2) return cut(inputs);
  if (op == "Transpose") return transposed(node, first);
  if (op == "Trilu") return triangle(node, inputs);
  if (op == "Range" && inputs.size() == 3) return range(inputs);
  if (op == "ConstantOfShape") return filled(node, first);
  if (op == "Where" && inputs.size() == 3) return chosen(first, *inputs[1], *inputs[2]);
  if (const Unary f = unary(op)) {
    ConstantTensor result = first;
    for (double& value : result.values) value = f(value);
    return result;
  }
  if (!pair) return std::nullopt;
  const ConstantTensor& second = *inputs[1];
  if (op == "Expand") return expanded(first, integers_of(second));
  if (op == "Gather") return gathered(node, first, second);
  if (op == "GatherND") return gathered_points(node, first, second);
  if (op == "GatherElements") return gathered_elements(node, first, second);
  if (op == "CumSum") return summed(node, first, second);
  if (op == "MatMul") return multiplied(first, second);
  return paired(op, first, second);
}

}  // namespace

std::vector<std::int64_t> integers_of(const ConstantTensor& numbers) {
  constexpr double kFarthestPlace = 1e15;
  std::vector<std::int64_t> values;
  values.reserve(numbers.values.size());
  for (const double value : numbers.values) {
    const bool is_far = !(value > -kFarthestPlace && value < kFarthestPlace);
    values.push_back(static_cast<std::int64_t>(!is_far     ? value
                                               : value < 0 ? -kFarthestPlace
                                                           : kFarthestPlace));
  }
  return values;
}

std::optional<ConstantTensor> computed(const onnx::NodeProto& node, const ConstantInputs& inputs,
                                       const TensorDims* dims) {
  if (inputs.empty() || inputs[0] == nullptr) return std::nullopt;
  Result result = any_computed(node, inputs, dims);
  const bool whole = result && element_count(result->dims) == std::ssize(result->values);
  return whole ? std::move(result) : std::nullopt;
}

}  // namespace strata
