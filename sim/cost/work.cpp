#include "sim/cost/work.h"

#include <algorithm>
#include <variant>

#include "sim/base/ceil_div.h"

namespace strata {
namespace {

constexpr std::int64_t positions(const Extents& e) {
  return e[Dim::n] * e[Dim::d] * e[Dim::h] * e[Dim::w];
}

// F(2x2, r x r) of Lavin and Gray (2015) computes 2x2 outputs by (r+1)^2 products instead of
// 4 r^2, each a product over the channels alone. Libraries have it for r = 3 and 5, in fp32.
std::int64_t winograd_kernel(const Convolution& op) {
  const Window &h = op.windows.h, &w = op.windows.w;
  const auto dense = [](const Window& x) { return x.stride == 1 && x.dilation == 1; };
  const bool square = h.kernel == w.kernel && (h.kernel == 3 || h.kernel == 5);
  return op.rank == 2 && square && dense(h) && dense(w) && op.groups == 1 ? h.kernel : 0;
}

struct Shape {                   // of a convolution shard, per group
  std::int64_t groups, in, out;  ///< channels
  std::int64_t kernel, stride;   ///< products over the dims
};

Shape shape(const Convolution& op, const ShardWork& work) {
  const auto& [d, h, w] = op.windows;
  const std::int64_t channels = work.output[Dim::c];
  const std::int64_t kernel = d.kernel * h.kernel * w.kernel;
  // A cut in c leaves whole groups, or parts of them.
  const std::int64_t groups = ceil_div(channels * op.groups, op.out_channels);
  return {groups, std::max<std::int64_t>(1, work.parameters.weight / channels / kernel),
          ceil_div(channels, groups), kernel, d.stride * h.stride * w.stride};
}

Gemm implicit_product(const Shape& s, const ShardWork& work, Phase phase) {
  const std::int64_t outputs = positions(work.output);
  switch (phase) {
    case Phase::forward:
      return {s.groups, outputs, s.out, s.in * s.kernel};
    case Phase::backward_data:  // a stride's zeros are not multiplied: 1 of `stride` taps is there
      return {s.groups, positions(work.inputs[0]), s.in, ceil_div(s.out * s.kernel, s.stride)};
    case Phase::backward_weights:
      return {s.groups, s.out, s.in * s.kernel, outputs};
    default:
      return {};
  }
}

Gemm winograd_product(std::int64_t r, const Shape& s, const ShardWork& work, Phase phase) {
  const Extents& e = phase == Phase::backward_data ? work.inputs[0] : work.output;
  // Where 2x2 does not divide the extents, libraries have other tiles: no loss is counted.
  const std::int64_t tiles = ceil_div(positions(e), 4);
  const std::int64_t count = (r + 1) * (r + 1);
  switch (phase) {
    case Phase::forward:
      return {count, tiles, s.out, s.in};
    case Phase::backward_data:
      return {count, tiles, s.in, s.out};
    case Phase::backward_weights:
      return {count, s.out, s.in, tiles};
    default:
      return {};
  }
}

// How often a phase passes over tensors of the output's size.
PhaseWork passes(const ShardWork& work, std::int64_t count) {
  PhaseWork result;
  result.any = count > 0;
  result.bytes = {count * volume(work.output) * element_bytes(work.dtype)};
  return result;
}

struct WorkOf {
  const ShardWork& work;
  Phase phase;

  bool is(Phase p) const { return phase == p; }
  PhaseWork nothing() const { return {}; }
  PhaseWork elements(std::int64_t count) const {
    PhaseWork result;
    result.any = true;
    result.bytes = {count * element_bytes(work.dtype)};
    return result;
  }
  PhaseWork by_phase(std::int64_t forward, std::int64_t backward) const {
    return passes(work, is(Phase::forward) ? forward : is(Phase::backward_data) ? backward : 0);
  }
  std::int64_t in() const {
    std::int64_t sum = 0;
    for (const Extents& input : work.inputs) sum += volume(input);
    return sum;
  }
  std::int64_t out() const { return volume(work.output); }
  // Each of the three passes of a parametric layer reads two of input, output and weight (or
  // their gradients) and writes the third.
  PhaseWork product(Gemm direct) const {
    if (direct.count == 0) return nothing();
    PhaseWork result = elements(in() + out() + work.parameters.total());
    result.direct = direct;
    return result;
  }

  PhaseWork operator()(const Input&) const { return nothing(); }
  PhaseWork operator()(const Flatten&) const { return nothing(); }
  PhaseWork operator()(const Convolution& op) const {
    const Shape s = shape(op, work);
    const std::int64_t r = winograd_kernel(op);
    PhaseWork result = product(implicit_product(s, work, phase));
    result.grouped = result.any && op.groups > 1;
    if (r == 0 || !result.any) return result;
    const double gain = 2.0 * static_cast<double>(r) / static_cast<double>(r + 1);
    result.winograd = winograd_product(r, s, work, phase);
    result.winograd_gain = gain * gain;
    return result;
  }
  PhaseWork operator()(const FullyConnected&) const {
    const std::int64_t n = work.output[Dim::n], c = work.output[Dim::c];
    const std::int64_t features = volume(work.inputs[0]) / std::max<std::int64_t>(1, n);
    if (is(Phase::forward)) return product({1, n, c, features});
    if (is(Phase::backward_data)) return product({1, n, features, c});
    if (is(Phase::backward_weights)) return product({1, c, features, n});
    return nothing();
  }
  // A maximum's gradient looks x and y up again to find where the maximum was.
  PhaseWork pooling(PoolMode mode) const {
    if (is(Phase::forward)) return elements(in() + out());
    if (!is(Phase::backward_data)) return nothing();
    return elements((mode == PoolMode::max ? 2 : 1) * (in() + out()));
  }
  PhaseWork operator()(const Pooling& op) const { return pooling(op.mode); }
  PhaseWork operator()(const AdaptivePooling& op) const { return pooling(op.mode); }
  PhaseWork operator()(const Activation&) const { return by_phase(2, 3); }  // x y; y dy dx
  // Sums of x; x again and y. Sums over x and dy; both again and dx.
  PhaseWork operator()(const BatchNorm&) const {
    if (is(Phase::forward_statistics)) return passes(work, 1);
    if (is(Phase::backward_statistics)) return passes(work, 2);
    return by_phase(2, 3);
  }
  PhaseWork operator()(const LocalResponseNorm&) const { return by_phase(2, 4); }  // x y; x y dy dx
  PhaseWork operator()(const Dropout&) const {  // a byte of mask an element, kept for the way back
    PhaseWork result = by_phase(2, 2);
    if (result.any) result.bytes += Bytes{out()};
    return result;
  }
  PhaseWork operator()(const Concat&) const { return by_phase(2, 2); }
  // Backward: the sum of gradients that meet where the input branched.
  PhaseWork operator()(const Add&) const {
    const auto operands = static_cast<std::int64_t>(work.inputs.size()) + 1;
    return by_phase(operands, operands);
  }
  // x g y; x g dy dx dg, where g is as large as x or a gate.
  PhaseWork operator()(const Multiply&) const {
    if (is(Phase::forward)) return elements(in() + out());
    return is(Phase::backward_data) ? elements(2 * in() + out()) : nothing();
  }
  // Each tensor passes once, whatever is done with it: x w y; x w dy dx; x dy dw.
  PhaseWork operator()(const Opaque&) const {
    const std::int64_t once = in() + out() + work.parameters.total();
    if (is(Phase::forward)) return elements(once);
    if (is(Phase::backward_data)) return elements(once + in());
    return is(Phase::backward_weights) ? elements(once) : nothing();
  }
  PhaseWork operator()(const SoftmaxCrossEntropy&) const {
    return is(Phase::forward_statistics) ? passes(work, 1) : by_phase(2, 2);
  }
};

}  // namespace

PhaseWork phase_work(const ShardWork& work, Phase phase) {
  if (volume(work.output) == 0) return {};
  if (phase == Phase::update) {  // plain SGD: w, its gradient, w
    const std::int64_t parameters = work.parameters.total();
    return parameters > 0 ? WorkOf{work, phase}.elements(3 * parameters) : PhaseWork{};
  }
  return std::visit(WorkOf{work, phase}, *work.op);
}

}  // namespace strata
