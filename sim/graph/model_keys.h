#pragma once

// The keys of each op in a model file, said once: the reader and the printer both visit them. A
// visitor has
//   count(key, value, fallback)    an integer      flag(key, value, fallback)   true or false
//   number(key, value, fallback)   a real          shape(key, extents)          one sample's
//   extents along(key, windows, rank, member, fallback)    one integer, or one for each dim of the
//   rank padding(key, windows, rank)                    likewise, or [begin, end] for each dim
//   outputs(key, adaptive pooling)                 likewise, of the outputs
//   text(key, value)                               a text
// where a fallback of nullopt means that the key must be there.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sim/graph/op.h"

namespace strata {

using AlongDims = std::array<std::int64_t, 3>;  ///< d, h, w

/// The dims that a window of this rank slides over: w; h, w; or d, h, w.
constexpr std::span<const Dim> dims_of_rank(int rank) {
  return std::span(kSpatialDims).last(static_cast<std::size_t>(rank));
}

template <class Visitor>
struct KeyVisit {
  Visitor& v;

  void operator()(Input& op) const { v.shape("shape", op.extents); }
  void operator()(Convolution& op) const {
    v.count("out_channels", op.out_channels, std::nullopt);
    v.along("kernel", op.windows, op.rank, &Window::kernel, std::nullopt);
    v.along("stride", op.windows, op.rank, &Window::stride, AlongDims{1, 1, 1});
    v.padding("padding", op.windows, op.rank);
    v.along("dilation", op.windows, op.rank, &Window::dilation, AlongDims{1, 1, 1});
    v.count("groups", op.groups, 1);
    v.flag("bias", op.bias, true);
  }
  void operator()(Pooling& op) const {
    v.along("kernel", op.windows, op.rank, &Window::kernel, std::nullopt);
    const Windows& w = op.windows;
    v.along("stride", op.windows, op.rank, &Window::stride,
            AlongDims{w.d.kernel, w.h.kernel, w.w.kernel});
    v.padding("padding", op.windows, op.rank);
    v.flag("ceil_mode", op.ceil_mode, false);
    if (op.mode == PoolMode::max) {
      v.along("dilation", op.windows, op.rank, &Window::dilation, AlongDims{1, 1, 1});
    } else {
      v.flag("count_include_pad", op.count_include_pad, true);
    }
  }
  void operator()(AdaptivePooling& op) const { v.outputs("output", op); }
  void operator()(FullyConnected& op) const {
    v.count("out_features", op.out_features, std::nullopt);
    v.flag("bias", op.bias, true);
  }
  void operator()(Activation& op) const {
    if (op.kind == ActivationKind::leaky_relu) v.number("slope", op.slope, 0.01);
    if (op.kind == ActivationKind::elu) v.number("alpha", op.slope, 1.0);
  }
  void operator()(BatchNorm& op) const { v.number("epsilon", op.epsilon, 1e-5); }
  void operator()(LocalResponseNorm& op) const {
    v.count("size", op.size, 5);
    v.number("alpha", op.alpha, 1e-4);
    v.number("beta", op.beta, 0.75);
    v.number("k", op.k, 1.0);
  }
  void operator()(Dropout& op) const { v.number("probability", op.probability, 0.5); }
  void operator()(Concat&) const {}
  void operator()(Add&) const {}
  void operator()(Multiply&) const {}
  void operator()(Flatten&) const {}
  void operator()(SoftmaxCrossEntropy&) const {}
  void operator()(Opaque& op) const {
    v.text("kind", op.kind);
    v.shape("shape", op.extents);
    v.count("parameters", op.parameters, 0);
  }
};

template <class Visitor>
void visit_keys(Op& op, Visitor& visitor) {
  std::visit(KeyVisit<Visitor>{visitor}, op);
}

/// An op of every name, with its defaults, in the order in which messages list them.
const std::vector<Op>& op_prototypes();

}  // namespace strata
