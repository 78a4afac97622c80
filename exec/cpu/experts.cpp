// Tokens to the slots of their experts, and back. Of each expert and group of tokens the slots are
// taken in the order of the tokens; what is moved are the channels of a place.

#include <algorithm>
#include <vector>

#include "exec/cpu/kernels.h"
#include "exec/cpu/move.h"
#include "exec/cpu/tensor.h"
#include "exec/runtime/expert_slots.h"

namespace strata::cpu {
namespace {

/// Where w of the whole tensor stands in a region's tensor.
std::int64_t local(const Region& region, std::int64_t w) {
  return w - region.box[Dim::w].begin;
}

/// visit(n, expert, token, slot) for each that is taken; all but n are those of whole tensors.
template <class Visit>
void each_taken(const ExpertSlots& groups, const Region& gates, Interval experts,
                const Visit& visit) {
  const Tensor gate(gates);
  for (std::int64_t n = 0; n < gate.extents()[Dim::n]; ++n) {
    for (std::int64_t e = experts.begin; e < experts.end; ++e) {
      for (std::int64_t g = groups.first; g < groups.first + groups.count; ++g) {
        std::int64_t slot = g * groups.slots;
        const std::int64_t end = (g + 1) * groups.tokens, full = slot + groups.slots;
        for (std::int64_t token = g * groups.tokens; token < end && slot < full; ++token) {
          if (gate.at(n, e, 0, 0, local(gates, token)) > 0) visit(n, e, token, slot++);
        }
      }
    }
  }
}

/// A place of each of two tensors, which have the same channels.
struct PlacePair {
  std::int64_t n, a, b;
};
/// visit(values of a, values of b, how many) for channels that lie side by side in both.
template <class Visit>
void each_run(const Tensor& a, const Tensor& b, const PlacePair& at, const Visit& visit) {
  const std::int64_t lanes = std::min(a.block(), b.block()), channels = a.extents()[Dim::c];
  const auto values = [&](const Tensor& x, std::int64_t c, std::int64_t place) {
    return x.block_at(at.n, c / x.block()) + place * x.block() + c % x.block();
  };
  for (std::int64_t c = 0; c < channels; c += lanes) {
    visit(values(a, c, at.a), values(b, c, at.b), std::min(lanes, channels - c));
  }
}

void copy_place(const Tensor& to, const Tensor& from, const PlacePair& at) {
  each_run(to, from, at,
           [](float* a, const float* b, std::int64_t count) { std::copy_n(b, count, a); });
}
/// to += by from.
void add_place(const Tensor& to, const Tensor& from, const PlacePair& at, float by) {
  each_run(to, from, at, [by](float* a, const float* b, std::int64_t count) {
    for (std::int64_t k = 0; k < count; ++k) a[k] += by * b[k];
  });
}
float product_of_places(const Tensor& x, const Tensor& y, const PlacePair& at) {
  float sum = 0;
  each_run(x, y, at, [&sum](const float* a, const float* b, std::int64_t count) {
    for (std::int64_t k = 0; k < count; ++k) sum += a[k] * b[k];
  });
  return sum;
}

class DispatchKernel : public PhasedKernel {
 public:
  DispatchKernel(const ShardSpec& spec, const Dispatch& op)
      : groups_(ExpertSlots::of(spec, op)), output_(spec.output) {}

 private:
  void forward(const Operands& operands) override {
    const Tensor x(operands.inputs[0]), y(operands.output);
    auto* const kept = static_cast<float*>(operands.saved);
    if (kept != nullptr) std::fill_n(kept, slot_count(), -1.0F);
    fill_zero(y);
    each_taken(groups_, operands.inputs[1], output_[Dim::d],
               [&](std::int64_t n, std::int64_t e, std::int64_t token, std::int64_t slot) {
                 const std::int64_t place = place_of(e, slot);
                 copy_place(y, x, {n, place, local(operands.inputs[0], token)});
                 if (kept == nullptr) return;
                 kept[n * y.plane() + place] = static_cast<float>(token % groups_.tokens);
               });
  }

  void backward_data(const Operands& operands) override {
    const Region& to = operands.input_gradients[0];
    if (to.data == nullptr) return;
    const Tensor dx(to), dy(operands.output_gradient);
    const auto* const kept = static_cast<const float*>(operands.saved);
    fill_zero(dx);
    for (std::int64_t i = 0; i < slot_count(); ++i) {
      if (kept[i] < 0) continue;
      const std::int64_t place = i % dy.plane();
      const std::int64_t group =
          (output_[Dim::w].begin + place % output_[Dim::w].size()) / groups_.slots;
      const std::int64_t token = group * groups_.tokens + static_cast<std::int64_t>(kept[i]);
      add_place(dx, dy, {i / dy.plane(), local(to, token), place}, 1);
    }
  }

  std::int64_t slot_count() const { return volume(output_) / output_[Dim::c].size(); }
  std::int64_t place_of(std::int64_t expert, std::int64_t slot) const {
    return (expert - output_[Dim::d].begin) * output_[Dim::w].size() + slot - output_[Dim::w].begin;
  }

  ExpertSlots groups_;
  Box output_;
};

class CombineKernel : public PhasedKernel {
 public:
  CombineKernel(const ShardSpec& spec, const Combine& op)
      : groups_(ExpertSlots::of(spec, op)), tokens_(spec.output[Dim::w]) {}

 private:
  void forward(const Operands& operands) override {
    const Tensor x(operands.inputs[0]), y(operands.output);
    fill_zero(y);
    const Tensor gate(operands.inputs[1]);
    each(operands, [&](const PlacePair& at, std::int64_t e, std::int64_t w) {
      add_place(y, x, at, gate.at(at.n, e, 0, 0, w));
    });
  }

  void backward_data(const Operands& operands) override {
    const Tensor x(operands.inputs[0]), dy(operands.output_gradient);
    const Region &to_slots = operands.input_gradients[0], &to_gates = operands.input_gradients[1];
    const Tensor dx(to_slots), gate(operands.inputs[1]), of_gate(to_gates);
    if (dx) fill_zero(dx);
    if (of_gate) fill_zero(of_gate);
    each(operands, [&](const PlacePair& at, std::int64_t e, std::int64_t w) {
      if (dx) add_place(dx, dy, {at.n, at.b, at.a}, gate.at(at.n, e, 0, 0, w));
      if (of_gate) of_gate.at(at.n, e, 0, 0, w) = product_of_places(dy, x, at);
    });
  }

  /// visit(the places of a token and of its slot, expert and place of the gate).
  template <class Visit>
  void each(const Operands& operands, const Visit& visit) const {
    const Region &slots = operands.inputs[0], &gates = operands.inputs[1];
    const std::int64_t width = slots.box[Dim::w].size();
    each_taken(groups_, gates, gates.box[Dim::c],
               [&](std::int64_t n, std::int64_t e, std::int64_t token, std::int64_t slot) {
                 visit(PlacePair{n, token - tokens_.begin, e * width + local(slots, slot)}, e,
                       local(gates, token));
               });
  }

  ExpertSlots groups_;
  Interval tokens_;
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const Dispatch& op) {
  return std::make_unique<DispatchKernel>(spec, op);
}

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const Combine& op) {
  return std::make_unique<CombineKernel>(spec, op);
}

}  // namespace strata::cpu
