#include "sim/importers/onnx/windows.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/graph/ops/limits.h"
#include "sim/importers/onnx/attributes.h"
#include "sim/importers/onnx/names.h"

namespace strata {
namespace {

using Numbers = std::vector<std::int64_t>;

Numbers one_each(const NodeAttributes& attributes, const char* name, std::size_t count,
                 std::int64_t absent) {
  Numbers values = attributes.integers(name);
  if (values.empty()) values.assign(count, absent);
  if (values.size() == count) return values;
  throw InputError(fmt::format("{} has {} numbers; allowed: {}", name, values.size(), count));
}

// Before anything is computed from them.
void check_range(const Numbers& values, const char* name, std::int64_t low) {
  if (std::all_of(values.begin(), values.end(),
                  [&](std::int64_t value) { return value >= low && value <= kMaxWindow; }))
    return;
  throw InputError(
      fmt::format("{} {}; allowed: {} to {} each", name, print_dims(values), low, kMaxWindow));
}

// ONNX's SAME: outputs are ceil(extent / stride); of an odd padding, which side has more.
void pad_to_same(Window& window, std::int64_t extent, bool more_at_end) {
  const std::int64_t outputs = (extent + window.stride - 1) / window.stride;
  const std::int64_t span = window.dilation * (window.kernel - 1) + 1;
  const std::int64_t padding =
      std::max<std::int64_t>((outputs - 1) * window.stride + span - extent, 0);
  window.pad_begin = more_at_end ? padding / 2 : padding - padding / 2;
  window.pad_end = padding - window.pad_begin;
}

// As auto_pad says.
void pad_automatically(Window& window, std::int64_t extent, const std::string& automatic) {
  if (automatic == "NOTSET" || automatic.empty()) return;
  window.pad_begin = window.pad_end = 0;
  if (automatic == "VALID") return;
  if (automatic != "SAME_UPPER" && automatic != "SAME_LOWER") {
    throw InputError(fmt::format("auto_pad is '{}'; allowed: NOTSET, SAME_UPPER, SAME_LOWER, VALID",
                                 shown(automatic)));
  }
  pad_to_same(window, extent, automatic == "SAME_UPPER");
}

}  // namespace

Windows read_windows(const NodeAttributes& attributes, const Numbers& kernel,
                     const Numbers& spatial) {
  const std::size_t rank = spatial.size();
  if (kernel.size() != rank || rank == 0 || rank > kSpatialDims.size()) {
    throw InputError(fmt::format("its kernel has {} dims, its input {}", kernel.size(), rank));
  }
  const Numbers strides = one_each(attributes, "strides", rank, 1);
  const Numbers dilations = one_each(attributes, "dilations", rank, 1);
  const Numbers pads = one_each(attributes, "pads", 2 * rank, 0);
  check_range(kernel, "its kernel is", 1);
  check_range(strides, "its strides are", 1);
  check_range(dilations, "its dilations are", 1);
  check_range(pads, "its pads are", 0);
  const std::string automatic = attributes.text("auto_pad", "NOTSET");
  Windows windows;
  for (std::size_t i = 0; i < rank; ++i) {
    Window& window = windows[spatial_dim(i, rank)];
    window = {kernel[i], strides[i], pads[i], pads[i + rank], dilations[i]};
    pad_automatically(window, spatial[i], automatic);
  }
  return windows;
}

std::vector<std::int64_t> padded_extents(const OnnxActivation& input, const Extents& extents) {
  const auto rank = static_cast<std::size_t>(std::max(spatial_rank(input.axes), 0));
  std::vector<std::int64_t> spatial;
  for (std::size_t i = 0; i < rank; ++i) {
    const Dim dim = spatial_dim(i, rank);
    spatial.push_back(extents[dim] + input.zeros[dim].begin + input.zeros[dim].end);
  }
  return spatial;
}

void take_zeros(Windows& windows, const PerDim<Margin>& zeros) {
  for (const Dim dim : kSpatialDims) {
    windows[dim].pad_begin += zeros[dim].begin;
    windows[dim].pad_end += zeros[dim].end;
  }
}

std::vector<std::int64_t> spread_pads(const Numbers& pads, const Numbers& axes, std::size_t rank) {
  if (pads.size() != 2 * axes.size()) {
    throw InputError(fmt::format("its pads are {}, its axes {}; allowed: two pads for each axis",
                                 print_dims(pads), print_dims(axes)));
  }
  checked_axes(axes, rank);
  Numbers all(2 * rank, 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = checked_axis(axes[i], rank);
    all[axis] = pads[i];
    all[axis + rank] = pads[i + axes.size()];
  }
  return all;
}

bool is_identity(const Windows& windows) {
  return std::all_of(kSpatialDims.begin(), kSpatialDims.end(), [&](Dim dim) {
    Window window = windows[dim];
    window.dilation = 1;  // of a kernel of 1
    return window == Window{};
  });
}

bool has_padding(const Windows& windows) {
  return std::any_of(kSpatialDims.begin(), kSpatialDims.end(), [&](Dim dim) {
    return windows[dim].pad_begin != 0 || windows[dim].pad_end != 0;
  });
}

}  // namespace strata
