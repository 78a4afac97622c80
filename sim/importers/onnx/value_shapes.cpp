// What computes, joins or spreads values, and the shapes themselves.

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/graph/ops/limits.h"
#include "sim/importers/onnx/attributes.h"
#include "sim/importers/onnx/shape_rules.h"

namespace strata {
namespace {

using Values = std::vector<std::int64_t>;

// ONNX's rule: from the last axis on, equal or 1.
TensorDims broadcast(const TensorDims& a, const TensorDims& b) {
  TensorDims dims = a.size() < b.size() ? b : a;
  const TensorDims& other = a.size() < b.size() ? a : b;
  for (std::size_t i = 0; i < other.size(); ++i) {
    std::int64_t& dim = dims[dims.size() - other.size() + i];
    if (dim != other[i] && dim != 1 && other[i] != 1) {
      throw InputError(
          fmt::format("its inputs are {} and {}; allowed: equal extents or 1 on each "
                      "axis",
                      print_dims(a), print_dims(b)));
    }
    if (dim == 1) dim = other[i];
  }
  return dims;
}

void check_joins(const TensorDims& first, const TensorDims& next, std::size_t axis) {
  bool fits = next.size() == first.size();
  for (std::size_t i = 0; fits && i < first.size(); ++i) fits = i == axis || next[i] == first[i];
  if (fits) return;
  throw InputError(fmt::format("its inputs are {} and {}; allowed: equal extents but for axis {}",
                               print_dims(first), print_dims(next), axis));
}

[[noreturn]] void fail_product(const KnownNode& node) {
  throw InputError(
      fmt::format("its inputs are {} and {}; allowed: rows of the first as long as "
                  "columns of the second",
                  print_dims(node.dims(0)), print_dims(node.dims(1))));
}

// All of them where the node says none; or none, where it says so.
std::optional<std::vector<std::size_t>> reduced_axes(const KnownNode& node, std::size_t rank) {
  const auto said = node.integers("axes", 1);
  if (!said) return std::nullopt;
  if (!said->empty()) return checked_axes(*said, rank);
  std::vector<std::size_t> axes;
  if (node.attributes().integer("noop_with_empty_axes", 0) != 0) return axes;
  axes.resize(rank);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

// A place between the dims of a shape, from the end where it is negative.
std::int64_t place_of(std::int64_t place, std::int64_t rank) {
  return std::clamp<std::int64_t>(place < 0 ? place + rank : place, 0, rank);
}

void check_shape(const Values& shape) {
  if (std::all_of(shape.begin(), shape.end(), [](std::int64_t dim) { return dim >= 0; })) return;
  throw InputError(fmt::format("its shape is {}; allowed: no negative dims", print_dims(shape)));
}

}  // namespace

MaybeDims same_dims(const KnownNode& node) {
  return node.dims(0);
}

MaybeDims broadcast_dims(const KnownNode& node) {
  TensorDims dims = node.dims(0);
  for (int i = 1; i < node.input_count(); ++i) dims = broadcast(dims, node.dims(i));
  return dims;
}

MaybeDims expand_dims(const KnownNode& node) {
  const auto shape = node.integers(1);
  if (!shape) return std::nullopt;
  check_shape(*shape);
  return broadcast(node.dims(0), *shape);
}

MaybeDims concat_dims(const KnownNode& node) {
  TensorDims dims = node.dims(0);
  const std::size_t axis = checked_axis(node.attributes().integer("axis", 1), dims.size());
  for (int i = 1; i < node.input_count(); ++i) {
    check_joins(node.dims(0), node.dims(i), axis);
    dims[axis] = std::min(dims[axis] + node.dims(i)[axis], kMaxElements + 1);
  }
  return dims;
}

MaybeDims gemm_dims(const KnownNode& node) {
  const TensorDims &a = node.dims(0), &b = node.dims(1);
  if (a.size() != 2 || b.size() != 2) {
    throw InputError(fmt::format("its inputs are {} and {}; allowed: two dims each", print_dims(a),
                                 print_dims(b)));
  }
  const bool turns_a = node.attributes().integer("transA", 0) != 0;
  const bool turns_b = node.attributes().integer("transB", 0) != 0;
  return TensorDims{a[turns_a ? 1 : 0], b[turns_b ? 0 : 1]};
}

// As numpy has it: a vector is a row before a matrix, and a column behind one.
MaybeDims matmul_dims(const KnownNode& node) {
  TensorDims a = node.dims(0), b = node.dims(1);
  if (a.empty() || b.empty()) fail_product(node);
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  if (a.back() != b[b.size() - 2]) fail_product(node);
  TensorDims dims = broadcast({a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
  if (!row) dims.push_back(a[a.size() - 2]);
  if (!column) dims.push_back(b.back());
  return dims;
}

MaybeDims reduction_dims(const KnownNode& node) {
  const TensorDims& input = node.dims(0);
  const auto axes = reduced_axes(node, input.size());
  if (!axes) return std::nullopt;
  const bool keeps = node.attributes().integer("keepdims", 1) != 0;
  TensorDims dims;
  for (std::size_t i = 0; i < input.size(); ++i) {
    const bool reduced = std::binary_search(axes->begin(), axes->end(), i);
    if (!reduced || keeps) dims.push_back(reduced ? 1 : input[i]);
  }
  return dims;
}

MaybeDims filled_dims(const KnownNode& node) {
  auto shape = node.integers(0);
  if (shape) check_shape(*shape);
  return shape;
}

MaybeDims shape_dims(const KnownNode& node) {
  const auto rank = std::ssize(node.dims(0));
  const std::int64_t from = place_of(node.attributes().integer("start", 0), rank);
  const std::int64_t to = place_of(node.attributes().integer("end", rank), rank);
  return TensorDims{std::max<std::int64_t>(0, to - from)};
}

MaybeDims size_dims(const KnownNode&) {
  return TensorDims{};
}

}  // namespace strata
