// Tokens to the slots of their experts, and back. Of each expert and group of tokens the slots are
// taken in the order of the tokens. Two maps say who took which: the token of each slot, and the
// slot of each token and expert; -1 is none. Both count from the first of the shard's groups.

#include "exec/cuda/kernels/kernels.h"
#include "exec/runtime/expert_slots.h"

namespace strata::cuda {
namespace {

struct SlotMaps {
  std::int32_t* token_of;  ///< (n, expert, slot)
  std::int32_t* slot_of;   ///< (n, token, expert)
  std::int64_t experts, tokens, slots;

  STRATA_ANYWHERE std::int32_t& token(std::int64_t n, std::int64_t e, std::int64_t slot) const {
    return token_of[(n * experts + e) * slots + slot];
  }
  STRATA_ANYWHERE std::int32_t& slot(std::int64_t n, std::int64_t t, std::int64_t e) const {
    return slot_of[(n * tokens + t) * experts + e];
  }
};

/// A thread has one expert's slots of one group. Maps that are null are not written.
template <class T>
struct TakeSlots {
  Tensor<const T> gates;
  std::int64_t first_expert, first_token;  ///< among the gates
  std::int64_t group_tokens, group_slots, groups;
  SlotMaps maps;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const Quotient row(i, groups), sample(row.whole, maps.experts);
    const std::int64_t n = sample.whole, e = sample.rest;
    std::int64_t slot = row.rest * group_slots;
    const std::int64_t end = slot + group_slots;
    for (std::int64_t k = 0; k < group_tokens; ++k) {
      const std::int64_t t = row.rest * group_tokens + k;
      const float gate = static_cast<float>(gates.at({n, 0, 0, first_token + t, first_expert + e}));
      const bool takes = gate > 0 && slot < end;
      if (maps.slot_of != nullptr) {
        maps.slot(n, t, e) = takes ? static_cast<std::int32_t>(slot) : -1;
      }
      if (takes && maps.token_of != nullptr) maps.token(n, e, slot) = static_cast<std::int32_t>(t);
      slot += takes ? 1 : 0;
    }
    if (maps.token_of == nullptr) return;
    for (; slot < end; ++slot) maps.token(n, e, slot) = -1;
  }
};

/// The other map, which was -1 all over.
struct FindSlots {
  SlotMaps maps;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const std::int32_t token = maps.token_of[i];
    if (token < 0) return;
    const Quotient row(i, maps.slots), sample(row.whole, maps.experts);
    maps.slot(sample.whole, token, sample.rest) = static_cast<std::int32_t>(row.rest);
  }
};
struct ForgetSlots {
  std::int32_t* slot_of;
  STRATA_ANYWHERE void operator()(std::int64_t i) const { slot_of[i] = -1; }
};

/// Each slot gets its token, times the gate where there are gates. A thread has a pack of channels.
template <class T, int width>
struct FillSlots {
  SlotMaps maps;
  Tensor<Pack<T, width>> slots;
  Tensor<Pack<T, width>> tokens;
  std::int64_t first_slot, first_token;  ///< in the tensors
  Tensor<const T> gates;                 ///< or none
  std::int64_t first_gate;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const Quotient place(i, slots.size.c), row(place.whole, maps.slots),
        sample(row.whole, maps.experts);
    const std::int64_t n = sample.whole, e = sample.rest, slot = row.rest;
    const std::int32_t token = maps.token(n, e, slot);
    Pack<T, width> values{};
    if (token >= 0) {
      values = tokens.at({n, 0, 0, first_token + token, place.rest});
      if (gates.data != nullptr) {
        const float gate = static_cast<float>(gates.at({n, 0, 0, first_gate + token, e}));
        for (T& value : values.values) value = T(gate * static_cast<float>(value));
      }
    }
    slots.at({n, e, 0, first_slot + slot, place.rest}) = values;
  }
};

/// Each token gets the sum of its slots, times the gates where there are gates.
template <class T, int width>
struct SumSlots {
  SlotMaps maps;
  Tensor<Pack<T, width>> tokens;
  Tensor<Pack<T, width>> slots;
  std::int64_t first_token, first_slot;
  Tensor<const T> gates;
  std::int64_t first_gate;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const Quotient place(i, tokens.size.c), sample(place.whole, maps.tokens);
    const std::int64_t n = sample.whole, token = sample.rest;
    float sums[width] = {};
    for (std::int64_t e = 0; e < maps.experts; ++e) {
      const std::int32_t slot = maps.slot(n, token, e);
      if (slot < 0) continue;
      const float gate = gates.data == nullptr
                             ? 1
                             : static_cast<float>(gates.at({n, 0, 0, first_gate + token, e}));
      const Pack<T, width> values = slots.at({n, e, 0, first_slot + slot, place.rest});
      for (int k = 0; k < width; ++k) sums[k] += gate * static_cast<float>(values.values[k]);
    }
    Pack<T, width> written;
    for (int k = 0; k < width; ++k) written.values[k] = T(sums[k]);
    tokens.at({n, 0, 0, first_token + token, place.rest}) = written;
  }
};

/// A team takes a token: of each of its experts, the slot times the token's gradient.
template <class T>
struct GateGradients {
  SlotMaps maps;
  Tensor<T> gradients;
  Tensor<const T> slots, dy;
  std::int64_t first_gate, first_slot;

  STRATA_ANYWHERE void operator()(const Team& team, std::int64_t i) const {
    const Quotient sample(i, maps.tokens);
    const std::int64_t n = sample.whole, token = sample.rest;
    for (std::int64_t e = 0; e < maps.experts; ++e) {
      const std::int32_t slot = maps.slot(n, token, e);
      float sum = 0;
      if (slot >= 0) {
        for (std::int64_t c = team.rank(); c < dy.size.c; c += team.size()) {
          sum += static_cast<float>(slots.at({n, e, 0, first_slot + slot, c})) *
                 static_cast<float>(dy.at({n, 0, 0, token, c}));
        }
        sum = team.sum(sum);
      }
      if (team.rank() == 0) gradients.at({n, 0, 0, first_gate + token, e}) = T(sum);
    }
  }
};

/// What both have: the shard's groups, and where they begin in a region.
class SlotKernel : public PhasedKernel {
 protected:
  SlotKernel(Seat& seat, const ExpertSlots& groups, Interval samples, Interval experts)
      : seat_(seat), groups_(groups), samples_(samples.size()), experts_(experts) {}

  std::int64_t first_token(const Region& region) const {
    return groups_.first * groups_.tokens - region.box[Dim::w].begin;
  }
  std::int64_t first_slot(const Region& region) const {
    return groups_.first * groups_.slots - region.box[Dim::w].begin;
  }
  std::int64_t tokens() const { return groups_.count * groups_.tokens; }
  std::int64_t slots() const { return groups_.count * groups_.slots; }
  std::int64_t all_slots() const { return samples_ * experts_.size() * slots(); }
  std::int64_t all_choices() const { return samples_ * experts_.size() * tokens(); }

  SlotMaps maps(std::int32_t* token_of, std::int32_t* slot_of) const {
    return {token_of, slot_of, experts_.size(), tokens(), slots()};
  }
  std::int32_t* memory(std::int64_t count) {
    return static_cast<std::int32_t*>(seat_.scratch(4 * count));
  }
  template <class T>
  void take(const Region& gates, const SlotMaps& all) {
    const std::int64_t count = samples_ * experts_.size() * groups_.count;
    each(seat_.stream(), count,
         TakeSlots<T>{Tensor<const T>(gates), experts_.begin - gates.box[Dim::c].begin,
                      first_token(gates), groups_.tokens, groups_.slots, groups_.count, all});
  }

  Seat& seat_;
  ExpertSlots groups_;
  std::int64_t samples_;
  Interval experts_;
};

template <class T>
class DispatchKernel : public SlotKernel {
 public:
  DispatchKernel(Seat& seat, const ShardSpec& spec, const Dispatch& op)
      : SlotKernel(seat, ExpertSlots::of(spec, op), spec.output[Dim::n], spec.output[Dim::d]) {}

 private:
  void forward(const Operands& operands) override {
    auto* kept = static_cast<std::int32_t*>(operands.saved);
    const SlotMaps all = maps(kept != nullptr ? kept : memory(all_slots()), nullptr);
    take<T>(operands.inputs[1], all);
    const Region &x = operands.inputs[0], &y = operands.output;
    with_width<T>({y.box[Dim::c].size()}, [&](auto width) {
      each(seat_.stream(), volume(y.box) / width,
           FillSlots<T, width>{all, packed<width>(Tensor<T>(y)), packed<width>(Tensor<T>(x)),
                               first_slot(y), first_token(x), Tensor<const T>(), 0});
    });
  }

  void backward_data(const Operands& operands) override {
    const Region &dx = operands.input_gradients[0], &dy = operands.output_gradient;
    if (dx.data == nullptr) return;
    const SlotMaps all = maps(static_cast<std::int32_t*>(operands.saved), memory(all_choices()));
    each(seat_.stream(), all_choices(), ForgetSlots{all.slot_of});
    each(seat_.stream(), all_slots(), FindSlots{all});
    if (dx.box[Dim::w].size() != tokens()) {
      clear(dx.data, volume(dx.box) * size_of(seat_.type()), seat_.stream());
    }
    with_width<T>({dx.box[Dim::c].size()}, [&](auto width) {
      each(seat_.stream(), samples_ * tokens() * dx.box[Dim::c].size() / width,
           SumSlots<T, width>{all, packed<width>(Tensor<T>(dx)), packed<width>(Tensor<T>(dy)),
                              first_token(dx), first_slot(dy), Tensor<const T>(), 0});
    });
  }
};

template <class T>
class CombineKernel : public SlotKernel {
 public:
  CombineKernel(Seat& seat, const ShardSpec& spec, const Combine& op)
      : SlotKernel(seat, ExpertSlots::of(spec, op), spec.output[Dim::n],
                   {0, (*spec.graph)[(*spec).inputs[1]].output[Dim::c]}) {}

 private:
  void forward(const Operands& operands) override {
    const SlotMaps all = maps(nullptr, memory(all_choices()));
    const Region &x = operands.inputs[0], &gates = operands.inputs[1], &y = operands.output;
    take<T>(gates, all);
    with_width<T>({y.box[Dim::c].size()}, [&](auto width) {
      each(seat_.stream(), volume(y.box) / width,
           SumSlots<T, width>{all, packed<width>(Tensor<T>(y)), packed<width>(Tensor<T>(x)),
                              first_token(y), first_slot(x), Tensor<const T>(gates),
                              first_token(gates)});
    });
  }

  void backward_data(const Operands& operands) override {
    std::int32_t* const both = memory(all_slots() + all_choices());
    const SlotMaps all = maps(both, both + all_slots());
    take<T>(operands.inputs[1], all);
    if (operands.input_gradients[0].data != nullptr) to_slots(operands, all);
    if (operands.input_gradients[1].data != nullptr) to_gates(operands, all);
  }

  void to_slots(const Operands& operands, const SlotMaps& all) {
    const Region &dx = operands.input_gradients[0], &dy = operands.output_gradient;
    const Region& gates = operands.inputs[1];
    if (dx.box[Dim::w].size() != slots()) clear_whole(dx);
    with_width<T>({dx.box[Dim::c].size()}, [&](auto width) {
      each(seat_.stream(), all_slots() * dx.box[Dim::c].size() / width,
           FillSlots<T, width>{all, packed<width>(Tensor<T>(dx)), packed<width>(Tensor<T>(dy)),
                               first_slot(dx), first_token(dy), Tensor<const T>(gates),
                               first_token(gates)});
    });
  }

  void to_gates(const Operands& operands, const SlotMaps& all) {
    const Region &to = operands.input_gradients[1], &x = operands.inputs[0];
    if (to.box[Dim::w].size() != tokens()) clear_whole(to);
    teams(seat_.stream(), samples_ * tokens(),
          GateGradients<T>{all, Tensor<T>(to), Tensor<const T>(x),
                           Tensor<const T>(operands.output_gradient), first_token(to),
                           first_slot(x)});
  }

  void clear_whole(const Region& region) {
    clear(region.data, volume(region.box) * size_of(seat_.type()), seat_.stream());
  }
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const Dispatch& op) {
  return make_of_type<DispatchKernel>(seat.type(), seat, spec, op);
}

std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const Combine& op) {
  return make_of_type<CombineKernel>(seat.type(), seat, spec, op);
}

}  // namespace strata::cuda
