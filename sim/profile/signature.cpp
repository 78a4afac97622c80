#include <algorithm>
#include <initializer_list>
#include <utility>

#include "sim/graph/regions.h"
#include "sim/profile/measured_cost.h"

namespace strata {
namespace {

void append(std::string& text, std::string_view key, std::int64_t value) {
  text.append(" ").append(key).append("=").append(std::to_string(value));
}

void append(std::string& text, std::string_view key, const Windows& windows,
            std::int64_t Window::*member) {
  text.append(" ").append(key).append("=");
  text.append(std::to_string(windows.d.*member)).append("x");
  text.append(std::to_string(windows.h.*member)).append("x");
  text.append(std::to_string(windows.w.*member));
}

// What an op adds to its name. Most add nothing.
struct Attributes {
  std::string& text;

  void operator()(const Convolution& op) const {
    append(text, "kernel", op.windows, &Window::kernel);
    append(text, "stride", op.windows, &Window::stride);
    append(text, "dilation", op.windows, &Window::dilation);
    append(text, "groups", op.groups);
    append(text, "bias", op.bias);
  }
  void operator()(const Pooling& op) const {
    append(text, "kernel", op.windows, &Window::kernel);
    append(text, "stride", op.windows, &Window::stride);
  }
  void operator()(const FullyConnected& op) const { append(text, "bias", op.bias); }
  void operator()(const LocalResponseNorm& op) const { append(text, "size", op.size); }
  void operator()(const Opaque& op) const { text.append(" kind=").append(op.kind); }
  template <class Other>
  void operator()(const Other&) const {}
};

// The hull of the boxes: what a kernel is given as its input.
Extents hull(const std::vector<Box>& boxes) {
  if (boxes.empty()) return {};
  Box hull = boxes.front();
  for (const Box& box : boxes) {
    for (Dim dim : kDims) {
      hull[dim].begin = std::min(hull[dim].begin, box[dim].begin);
      hull[dim].end = std::max(hull[dim].end, box[dim].end);
    }
  }
  return extents(hull);
}

}  // namespace

std::vector<Extents> input_extents(const Graph& graph, LayerId layer, const Box& output) {
  std::vector<Extents> inputs;
  for (std::size_t i = 0; i < graph[layer].inputs.size(); ++i) {
    inputs.push_back(hull(needed_input(graph, layer, i, output)));
  }
  return inputs;
}

CostKey cost_key(const Graph& graph, LayerId layer, const Box& output, DType dtype, Phase phase) {
  return {signature(graph[layer].op), dtype, phase, extents(output),
          input_extents(graph, layer, output)};
}

std::string signature(const Op& op) {
  std::string text(name(op));
  std::visit(Attributes{text}, op);
  return text;
}

}  // namespace strata
