#include "sim/graph/shape.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/error.h"

namespace strata {
namespace {

using Inputs = std::span<const Extents>;

std::string_view word(Dim dim) {
  constexpr std::array<std::string_view, 5> kWords = {"sample", "channel", "depth", "height",
                                                      "width"};
  return kWords[static_cast<std::size_t>(dim)];
}

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) {
  throw InputError(fmt::format(text, std::forward<Args>(args)...));
}

/// One sample's extents for a message: "64 x 1 x 55 x 55", over c, d, h, w.
std::string show(const Extents& e) {
  return fmt::format("{} x {} x {} x {}", e[Dim::c], e[Dim::d], e[Dim::h], e[Dim::w]);
}

void check_range(std::string_view what, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value < low || value > high) fail("{} {} is not in {} ... {}", what, value, low, high);
}

void check_finite(std::string_view what, double value) {
  if (!std::isfinite(value)) fail("{} {} is not a finite number", what, value);
}

void check_rank(int rank) {
  check_range("rank", rank, 1, 3);
}

/// Rank 1 slides over w, 2 over h and w, 3 over d, h and w.
bool slides_over(Dim dim, int rank) {
  return dim == Dim::w || (dim == Dim::h && rank >= 2) || (dim == Dim::d && rank >= 3);
}

void check_window(const Window& window, Dim dim, int rank) {
  if (!slides_over(dim, rank) && window != Window{}) {
    fail("a window of rank {} can't slide over the {}", rank, word(dim));
  }
  check_range(fmt::format("{} kernel", word(dim)), window.kernel, 1, kMaxWindow);
  check_range(fmt::format("{} stride", word(dim)), window.stride, 1, kMaxWindow);
  check_range(fmt::format("{} dilation", word(dim)), window.dilation, 1, kMaxWindow);
  check_range(fmt::format("{} padding", word(dim)), window.pad_begin, 0, kMaxWindow);
  check_range(fmt::format("{} padding", word(dim)), window.pad_end, 0, kMaxWindow);
}

std::int64_t span_of(const Window& window) {
  return window.dilation * (window.kernel - 1) + 1;
}

/// What the window's last position may move over: padded extent minus the window's span.
std::int64_t slack(const Window& window, std::int64_t extent, Dim dim) {
  const std::int64_t padded = extent + window.pad_begin + window.pad_end;
  if (span_of(window) <= padded) return padded - span_of(window);
  if (window.dilation == 1) {
    fail("kernel {} does not fit the padded {} {}", window.kernel, word(dim), padded);
  }
  fail("kernel {} with dilation {} spans {} and does not fit the padded {} {}", window.kernel,
       window.dilation, span_of(window), word(dim), padded);
}

/// Padding of at most half the window: no window lies in the padding alone.
void check_pool_padding(const Window& window, Dim dim) {
  const std::int64_t most = span_of(window) / 2;
  for (std::int64_t pad : {window.pad_begin, window.pad_end}) {
    if (pad > most) {
      fail("{} padding {} is more than half of the pooling kernel {}", word(dim), pad,
           span_of(window));
    }
  }
}

void check_kind(const std::string& kind) {
  const bool sound = !kind.empty() && std::all_of(kind.begin(), kind.end(), [](char ch) {
    return static_cast<unsigned char>(ch) >= 0x20 && ch != 0x7f;
  });
  if (!sound) fail("an opaque op needs a kind, without control characters");
}

struct ShapeOf {
  Inputs inputs;

  const Extents& only() const {
    if (inputs.size() != 1) fail("takes one input, not {}", inputs.size());
    return inputs[0];
  }

  Extents operator()(const Input& op) const {
    if (!inputs.empty()) fail("an input layer reads no other layer");
    if (op.extents[Dim::n] != 1) fail("an input's extents are of one sample: n must be 1");
    for (Dim dim : kDims) {
      check_range(fmt::format("{} extent", word(dim)), op.extents[dim], 1, kMaxExtent);
    }
    return op.extents;
  }

  Extents operator()(const Convolution& op) const {
    Extents out = only();
    check_rank(op.rank);
    check_range("out_channels", op.out_channels, 1, kMaxExtent);
    check_range("groups", op.groups, 1, kMaxExtent);
    if (out[Dim::c] % op.groups != 0) {
      fail("{} groups do not divide the {} input channels", op.groups, out[Dim::c]);
    }
    if (op.out_channels % op.groups != 0) {
      fail("{} groups do not divide the {} output channels", op.groups, op.out_channels);
    }
    out[Dim::c] = op.out_channels;
    for (Dim dim : kSpatialDims) {
      check_window(op.windows[dim], dim, op.rank);
      out[dim] = convolved(op.windows[dim], out[dim], dim);
    }
    return out;
  }

  Extents operator()(const Pooling& op) const {
    Extents out = only();
    check_rank(op.rank);
    for (Dim dim : kSpatialDims) {
      const Window& window = op.windows[dim];
      check_window(window, dim, op.rank);
      check_pool_padding(window, dim);
      if (op.mode == PoolMode::average && window.dilation != 1) {
        fail("average pooling has no dilation");
      }
      out[dim] = pooled(window, op.ceil_mode, out[dim], dim);
    }
    return out;
  }

  Extents operator()(const AdaptivePooling& op) const {
    Extents out = only();
    check_rank(op.rank);
    const std::array<std::int64_t, 3> asked = {op.d, op.h, op.w};
    for (std::size_t k = 0; k < kSpatialDims.size(); ++k) {
      if (!slides_over(kSpatialDims[k], op.rank)) continue;
      check_range(fmt::format("output {}", word(kSpatialDims[k])), asked[k], 1, kMaxExtent);
      out[kSpatialDims[k]] = asked[k];
    }
    return out;
  }

  Extents operator()(const FullyConnected& op) const {
    check_range("out_features", op.out_features, 1, kMaxExtent);
    return {{only()[Dim::n], op.out_features, 1, 1, 1}};
  }

  Extents operator()(const Activation& op) const {
    check_finite("slope", op.slope);
    return only();
  }
  Extents operator()(const BatchNorm& op) const {
    check_finite("epsilon", op.epsilon);
    if (op.epsilon < 0) fail("epsilon must not be negative");
    return only();
  }
  Extents operator()(const LocalResponseNorm& op) const {
    check_range("size", op.size, 1, kMaxWindow);
    check_finite("alpha", op.alpha);
    check_finite("beta", op.beta);
    check_finite("k", op.k);
    return only();
  }
  Extents operator()(const Dropout& op) const {
    if (!(op.probability >= 0 && op.probability < 1)) fail("probability must be in [0, 1)");
    return only();
  }

  Extents operator()(const Concat&) const {
    if (inputs.empty()) fail("concat takes at least one input");
    Extents out = inputs[0];
    for (const Extents& next : inputs.subspan(1)) {
      Extents same = next;
      same[Dim::c] = out[Dim::c];
      if (same != out) {
        fail("concat joins channels; its inputs {} and {} differ elsewhere", show(inputs[0]),
             show(next));
      }
      out[Dim::c] += next[Dim::c];
      check_range("channel extent", out[Dim::c], 1, kMaxExtent);
    }
    return out;
  }

  Extents operator()(const Add&) const {
    if (inputs.size() < 2) fail("add takes at least two inputs, not {}", inputs.size());
    for (const Extents& next : inputs) {
      if (next != inputs[0]) {
        fail("add takes equal extents, not {} and {}", show(inputs[0]), show(next));
      }
    }
    return inputs[0];
  }

  Extents operator()(const Multiply&) const {
    if (inputs.size() != 2) fail("multiply takes two inputs, not {}", inputs.size());
    Extents gate = inputs[0];
    for (Dim dim : kSpatialDims) gate[dim] = 1;
    if (inputs[1] == inputs[0] || inputs[1] == gate) return inputs[0];
    const std::string or_gate = inputs[0] == gate ? "" : " or, as a gate, " + show(gate);
    fail("multiply takes a second input of {}{}, not {}", show(inputs[0]), or_gate,
         show(inputs[1]));
  }

  Extents operator()(const Flatten&) const {
    Extents in = only();
    const std::int64_t n = std::exchange(in[Dim::n], 1);
    return {{n, volume(in), 1, 1, 1}};  // kMaxElements bounds the volume
  }

  Extents operator()(const SoftmaxCrossEntropy&) const {
    const Extents& in = only();
    if (in[Dim::d] != 1 || in[Dim::h] != 1 || in[Dim::w] != 1) {
      fail("softmax_cross_entropy takes (n, c); its input {} needs a flatten or an fc before it",
           show(in));
    }
    return in;
  }

  Extents operator()(const Opaque& op) const {
    if (inputs.empty()) fail("opaque takes at least one input");
    check_kind(op.kind);
    if (op.extents[Dim::n] != 1) fail("an opaque op's output is of one sample: n must be 1");
    check_range("parameters", op.parameters, 0, kMaxElements);
    Extents out = op.extents;
    out[Dim::n] = inputs[0][Dim::n];
    return out;
  }
};

}  // namespace

std::int64_t convolved(const Window& window, std::int64_t extent, Dim dim) {
  return slack(window, extent, dim) / window.stride + 1;
}

std::int64_t pooled(const Window& window, bool ceil_mode, std::int64_t extent, Dim dim) {
  const std::int64_t room = slack(window, extent, dim);
  if (!ceil_mode) return room / window.stride + 1;
  const std::int64_t outputs = (room + window.stride - 1) / window.stride + 1;
  const bool starts_in_end_padding = (outputs - 1) * window.stride >= extent + window.pad_begin;
  return starts_in_end_padding ? outputs - 1 : outputs;
}

Op canonical(Op op) {
  if (auto* pool = std::get_if<Pooling>(&op); pool && pool->mode == PoolMode::max) {
    pool->count_include_pad = true;
  }
  if (auto* pool = std::get_if<AdaptivePooling>(&op)) {
    if (pool->rank < 3) pool->d = 1;
    if (pool->rank < 2) pool->h = 1;
  }
  if (auto* activation = std::get_if<Activation>(&op)) {
    const bool has_slope =
        activation->kind == ActivationKind::leaky_relu || activation->kind == ActivationKind::elu;
    if (!has_slope) activation->slope = Activation{}.slope;
  }
  return op;
}

Extents infer_output(const Op& op, std::span<const Extents> inputs) {
  Extents out = std::visit(ShapeOf{inputs}, op);
  for (Dim dim : kDims) check_range(fmt::format("{} extent", word(dim)), out[dim], 1, kMaxExtent);
  return out;
}

std::int64_t macs_per_output(const Op& op, std::span<const Extents> inputs) {
  if (const auto* conv = std::get_if<Convolution>(&op)) {
    std::int64_t taps = inputs[0][Dim::c] / conv->groups;
    for (Dim dim : kSpatialDims) taps = bounded_product(taps, conv->windows[dim].kernel, kMaxMacs);
    return taps;
  }
  if (std::holds_alternative<FullyConnected>(op)) {
    return volume(inputs[0]) / inputs[0][Dim::n];
  }
  return 0;
}

Parameters infer_parameters(const Op& op, std::span<const Extents> inputs) {
  const std::int64_t taps = macs_per_output(op, inputs);
  if (const auto* conv = std::get_if<Convolution>(&op)) {
    return {bounded_product(conv->out_channels, taps, kMaxElements),
            conv->bias ? conv->out_channels : 0};
  }
  if (const auto* fc = std::get_if<FullyConnected>(&op)) {
    return {bounded_product(fc->out_features, taps, kMaxElements), fc->bias ? fc->out_features : 0};
  }
  if (std::holds_alternative<BatchNorm>(op)) return {inputs[0][Dim::c], inputs[0][Dim::c]};
  if (const auto* opaque = std::get_if<Opaque>(&op)) return {opaque->parameters, 0};
  return {};
}

}  // namespace strata
