// The same elements in other dims, or some of them.

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/importers/onnx/attributes.h"
#include "sim/importers/onnx/shape_rules.h"

namespace strata {
namespace {

using Values = std::vector<std::int64_t>;

constexpr std::int64_t kFarthest = std::int64_t{1} << 50;  // more than any dim

// Zeros of the shape stand for the input's own dims, unless it says otherwise.
TensorDims copied_dims(const KnownNode& node, const Values& shape) {
  const bool zeros = node.opset() >= 14 && node.attributes().integer("allowzero", 0) != 0;
  const TensorDims& input = node.dims(0);
  TensorDims dims = shape;
  for (std::size_t i = 0; i < dims.size() && !zeros; ++i) {
    if (dims[i] == 0 && i < input.size()) dims[i] = input[i];
  }
  return dims;
}

[[noreturn]] void fail_reshape(const KnownNode& node, const Values& shape) {
  throw InputError(fmt::format("its shape is {}, its input {}; allowed: the same elements",
                               print_dims(shape), print_dims(node.dims(0))));
}

// How many elements of an axis of `extent` there are from `start` to `end`.
std::int64_t sliced(std::int64_t extent, std::int64_t start, std::int64_t end, std::int64_t step) {
  if (step == 0) throw InputError("its step is 0; allowed: any other");
  step = std::clamp(step, -kFarthest, kFarthest);
  if (start < 0) start += extent;
  if (end < 0) end += extent;
  if (step > 0) {
    start = std::clamp<std::int64_t>(start, 0, extent),
    end = std::clamp<std::int64_t>(end, 0, extent);
    return std::max<std::int64_t>(0, (end - start + step - 1) / step);
  }
  if (extent == 0) return 0;
  start = std::clamp<std::int64_t>(start, 0, extent - 1);
  end = std::clamp<std::int64_t>(end, -1, extent - 1);
  return std::max<std::int64_t>(0, (start - end - step - 1) / -step);
}

// Since opset 10 the numbers of a Slice are inputs; empty where it has none.
std::optional<Values> cut_numbers(const KnownNode& node, int i, const char* attribute) {
  return node.opset() < 10 || !node.has_input(i) ? node.attributes().integers(attribute)
                                                 : node.integers(i);
}

// Parts that the node says, or as equal ones as can be, the last of which may be smaller.
std::optional<Values> parts_of(const KnownNode& node, std::int64_t extent) {
  auto said = node.integers("split", 1);
  if (!said || !said->empty()) return said;
  const std::int64_t count = node.proto().output_size();
  const std::int64_t wanted = node.attributes().integer("num_outputs", count);
  if (wanted != count) {
    throw InputError(
        fmt::format("num_outputs is {}; allowed: {}, as it has outputs", wanted, count));
  }
  const std::int64_t part = (extent + count - 1) / count;
  Values parts;
  for (std::int64_t i = 0; i < count; ++i)
    parts.push_back(std::clamp<std::int64_t>(extent - i * part, 0, part));
  return parts;
}

// Whether they are parts of `extent`, and all of it.
bool add_up(const Values& parts, std::int64_t extent) {
  for (const std::int64_t part : parts) {
    if (part < 0 || part > extent) return false;
    extent -= part;
  }
  return extent == 0;
}

[[noreturn]] void fail_split(const Values& parts, std::int64_t extent, std::size_t outputs) {
  constexpr std::size_t kNamed = 16;
  const Values first(parts.begin(), parts.begin() + std::min(parts.size(), kNamed));
  throw InputError(fmt::format("its parts are {}{} of {}; allowed: {} that add up to it",
                               print_dims(first), parts.size() > kNamed ? " ..." : "", extent,
                               outputs));
}

}  // namespace

MaybeDims flatten_dims(const KnownNode& node) {
  const TensorDims& input = node.dims(0);
  std::int64_t axis = node.attributes().integer("axis", 1);
  const auto rank = std::ssize(input);
  if (axis != rank) axis = static_cast<std::int64_t>(checked_axis(axis, input.size()));
  return TensorDims{element_count({input.begin(), input.begin() + axis}),
                    element_count({input.begin() + axis, input.end()})};
}

MaybeDims reshape_dims(const KnownNode& node) {
  const auto shape = node.integers(1);
  if (!shape) return std::nullopt;
  TensorDims dims = copied_dims(node, *shape);
  const std::int64_t elements = element_count(node.dims(0));
  const auto rest = std::find(dims.begin(), dims.end(), -1);
  if (rest != dims.end()) *rest = 1;
  if (std::any_of(dims.begin(), dims.end(), [](std::int64_t dim) { return dim < 0; }))
    fail_reshape(node, *shape);
  const std::int64_t said = element_count(dims);
  if (rest != dims.end() && said > 0) *rest = elements / said;
  if (element_count(dims) != elements) fail_reshape(node, *shape);
  return dims;
}

MaybeDims squeeze_dims(const KnownNode& node) {
  const TensorDims& input = node.dims(0);
  const auto said = node.integers("axes", 1);
  if (!said) return std::nullopt;
  const bool all = said->empty() && !node.has_input(1) && !node.attributes().has("axes");
  const std::vector<std::size_t> axes = checked_axes(*said, input.size());
  TensorDims dims;
  for (std::size_t i = 0; i < input.size(); ++i) {
    const bool goes = all ? input[i] == 1 : std::binary_search(axes.begin(), axes.end(), i);
    if (goes && input[i] != 1) {
      throw InputError(fmt::format("it squeezes axis {} of {}; allowed: those of extent 1", i,
                                   print_dims(input)));
    }
    if (!goes) dims.push_back(input[i]);
  }
  return dims;
}

MaybeDims unsqueeze_dims(const KnownNode& node) {
  const auto said = node.integers("axes", 1);
  if (!said) return std::nullopt;
  const TensorDims& input = node.dims(0);
  const std::size_t rank = input.size() + said->size();
  const std::vector<std::size_t> axes = checked_axes(*said, rank);
  TensorDims dims;
  auto next = input.begin();
  for (std::size_t i = 0; i < rank; ++i)
    dims.push_back(std::binary_search(axes.begin(), axes.end(), i) ? 1 : *next++);
  return dims;
}

// Its perm was checked.
MaybeDims transpose_dims(const KnownNode& node) {
  const TensorDims& input = node.dims(0);
  TensorDims dims(input.rbegin(), input.rend());
  const Values order = node.attributes().integers("perm");
  if (!node.attributes().has("perm")) return dims;
  for (std::size_t i = 0; i < dims.size(); ++i) dims[i] = input[static_cast<std::size_t>(order[i])];
  return dims;
}

MaybeDims slice_dims(const KnownNode& node) {
  const auto starts = cut_numbers(node, 1, "starts"), ends = cut_numbers(node, 2, "ends");
  auto axes = cut_numbers(node, 3, "axes"), steps = cut_numbers(node, 4, "steps");
  if (!starts || !ends || !axes || !steps) return std::nullopt;
  if (axes->empty()) {
    axes->resize(starts->size());
    std::iota(axes->begin(), axes->end(), 0);
  }
  if (steps->empty()) steps->assign(starts->size(), 1);
  if (starts->size() != ends->size() || starts->size() != axes->size() ||
      starts->size() != steps->size())
    throw InputError("its starts, ends, axes and steps differ in their number");
  TensorDims dims = node.dims(0);
  checked_axes(*axes, dims.size());
  for (std::size_t i = 0; i < axes->size(); ++i) {
    std::int64_t& dim = dims[checked_axis((*axes)[i], dims.size())];
    dim = sliced(dim, (*starts)[i], (*ends)[i], (*steps)[i]);
  }
  return dims;
}

MaybeDims gather_dims(const KnownNode& node) {
  const TensorDims& data = node.dims(0);
  const auto axis =
      static_cast<std::ptrdiff_t>(checked_axis(node.attributes().integer("axis", 0), data.size()));
  TensorDims dims(data.begin(), data.begin() + axis);
  dims.insert(dims.end(), node.dims(1).begin(), node.dims(1).end());
  dims.insert(dims.end(), data.begin() + axis + 1, data.end());
  return dims;
}

std::vector<MaybeDims> split_dims(const KnownNode& node) {
  TensorDims dims = node.dims(0);
  const std::size_t axis = checked_axis(node.attributes().integer("axis", 0), dims.size());
  const std::int64_t extent = dims[axis];
  const auto outputs = static_cast<std::size_t>(node.proto().output_size());
  const auto parts = parts_of(node, extent);
  if (!parts) return std::vector<MaybeDims>(outputs);
  if (parts->size() != outputs || !add_up(*parts, extent)) fail_split(*parts, extent, outputs);
  std::vector<MaybeDims> all;
  for (const std::int64_t part : *parts) {
    dims[axis] = part;
    all.emplace_back(dims);
  }
  return all;
}

}  // namespace strata
