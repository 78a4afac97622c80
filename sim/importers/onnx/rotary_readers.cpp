// Rotary positions: x cos + (-second half, first half) sin, of queries and keys.

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/importers/onnx/node_readers.h"
#include "sim/importers/onnx/views.h"

namespace strata {
namespace {

constexpr double kTolerance = 2e-3;  // of cosines that float32 computed of positions in thousands

bool is_same_source(const OnnxView& a, const OnnxView& b) {
  return a.layer == b.layer && a.product == b.product && a.rotary == 0 && b.rotary == 0;
}

// The whole of (-second half, first half).
std::optional<OnnxView> turned(const OnnxView& second, const OnnxView& first) {
  OnnxView whole = first;
  if (!is_same_source(first, second) || first.axes != second.axes || first.axes.empty() ||
      second.scale != -first.scale || first.axes.back().size() > 1)
    return std::nullopt;
  if (whole.axes.back().empty()) whole.axes.back().push_back({Dim::c, 1, 1});
  AxisFactor& channels = whole.axes.back().front();
  Extents behind = first.offset;
  behind[Dim::c] += channels.extent * channels.stride;
  if (channels.dim != Dim::c || channels.stride != 1 || second.offset != behind)
    return std::nullopt;
  channels.extent *= 2;
  return whole;
}

bool read_turn(OnnxNode& node) {
  if (node.input_count() != 2 || !node.is_data(0) || !node.is_data(1)) return false;
  const auto second = view_of(node.network(), node.value(0));
  const auto first = view_of(node.network(), node.value(1));
  if (!second || !first || second->axes.empty()) return false;
  const std::size_t axis = checked_axis(node.attributes().integer("axis", 1), second->axes.size());
  auto whole = axis + 1 == second->axes.size() ? turned(*second, *first) : std::nullopt;
  if (!whole) return false;
  node.alias(OnnxRotation{std::move(*whole), true});
  return true;
}

// Times a constant of cosines or sines, which is none of parameters.
bool read_factor(OnnxNode& node) {
  for (const int i : {0, 1}) {
    if (!node.is_data(i) || node.is_data(1 - i)) continue;
    const std::string& factor = node.proto().input(1 - i);
    const auto numbers = node.network().numbers(factor);
    if (numbers == nullptr || numbers->values.size() < 2) return false;
    if (const auto* rotation = std::get_if<OnnxRotation>(&node.value(i))) {
      if (!rotation->factor.empty()) return false;
      node.alias(OnnxRotation{rotation->view, rotation->turned, factor});
      return true;
    }
    auto view = view_of(node.network(), node.value(i));
    if (!view || view->axes.size() < 4) return false;
    node.alias(OnnxRotation{std::move(*view), false, factor});
    return true;
  }
  return false;
}

// check(value, position, channel) of each number of a constant that is spread over a view.
template <class Check>
bool all_of(const ConstantTensor& numbers, const OnnxView& view, const Check& check) {
  const TensorDims dims = dims_of(view.axes);
  if (numbers.dims.size() > dims.size() || numbers.dims.empty() ||
      numbers.dims.back() != dims.back())
    return false;
  const auto missing = static_cast<std::ptrdiff_t>(dims.size() - numbers.dims.size());
  const auto tokens = std::find_if(view.axes.begin(), view.axes.end(), [](const ViewAxis& axis) {
    return axis.size() == 1 && axis.front().dim == Dim::w;
  });
  const std::ptrdiff_t along = tokens - view.axes.begin() - missing;
  const std::int64_t positions = tokens == view.axes.end() ? 1 : extent_of(*tokens);
  if (along < 0 && positions > 1) return false;
  std::int64_t inner = 1;
  if (positions > 1) {
    if (numbers.dims[static_cast<std::size_t>(along)] != positions) return false;
    for (auto i = static_cast<std::size_t>(along) + 1; i < numbers.dims.size(); ++i)
      inner *= numbers.dims[i];
  }
  for (std::size_t i = 0; i < numbers.values.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    if (!check(numbers.values[i], at / inner % positions, at % dims.back())) return false;
  }
  return true;
}

// From the sine of the slowest pair at position 1.
double base_of(const ConstantTensor& sines, const OnnxView& view, std::int64_t half) {
  double angle = 0;
  all_of(sines, view, [&](double value, std::int64_t position, std::int64_t channel) {
    if (position == 1 && channel == half - 1) angle = std::asin(std::clamp(value, -1.0, 1.0));
    return true;
  });
  if (half < 2 || angle <= 0) return 10000;
  const auto pairs = static_cast<double>(half);
  const double base = std::pow(angle, -pairs / (pairs - 1));
  const double whole = std::round(base);
  return std::abs(base - whole) <= 1e-3 * whole ? whole : base;
}

double rotary_of(OnnxNode& node, const OnnxRotation& plain, const OnnxRotation& turned) {
  const auto cosines = node.network().numbers(plain.factor);
  const auto sines = node.network().numbers(turned.factor);
  if (cosines == nullptr || sines == nullptr) throw InputError("its angles are not known");
  const std::int64_t half = extent_of(plain.view.axes.back()) / 2;
  const double base = base_of(*sines, plain.view, half);
  const auto is_wave = [&](double (*wave)(double)) {
    return [=](double value, std::int64_t position, std::int64_t channel) {
      const double exponent = -static_cast<double>(channel % half) / static_cast<double>(half);
      const double angle = static_cast<double>(position) * std::pow(base, exponent);
      return std::abs(value - wave(angle)) <= kTolerance;
    };
  };
  if (all_of(*cosines, plain.view, is_wave(std::cos)) &&
      all_of(*sines, plain.view, is_wave(std::sin)))
    return base;
  throw InputError(
      "it turns by other angles than position / base^(2 i / head size); allowed: positions from 0 "
      "on, without another scale");
}

bool read_sum(OnnxNode& node) {
  const auto* a = std::get_if<OnnxRotation>(&node.value(0));
  const auto* b = std::get_if<OnnxRotation>(&node.value(1));
  if (a == nullptr || b == nullptr) return false;
  if (a->turned) std::swap(a, b);
  const bool pair = !a->turned && b->turned && !b->factor.empty() && !a->factor.empty() &&
                    is_same_source(a->view, b->view) && a->view.axes == b->view.axes &&
                    a->view.offset == b->view.offset && a->view.scale == b->view.scale;
  if (!pair) throw InputError("allowed: x cos + (-second half, first half) sin of one x");
  OnnxView view = a->view;
  view.rotary = rotary_of(node, *a, *b);
  node.alias(std::move(view));
  return true;
}

}  // namespace

TokenOps rotary_ops() {
  static constexpr std::array kOps = {
      TokenOp{"Add", read_sum},
      TokenOp{"Concat", read_turn},
      TokenOp{"Mul", read_factor},
  };
  return kOps;
}

}  // namespace strata
