#include "sim/graph/ops/experts.h"

#include <algorithm>
#include <cmath>

#include "sim/graph/ops/attribute_text.h"
#include "sim/graph/ops/checks.h"

namespace strata {
namespace {

// Products of `count` matrices of so many rows, from `in` to `out` channels.
PhaseWork products(const ShardShape& shard, Phase phase, std::int64_t count, std::int64_t rows) {
  const std::int64_t out = shard.output[Dim::c], in = shard.inputs[0][Dim::c];
  if (phase == Phase::forward) return shard.product({count, rows, out, in});
  if (phase == Phase::backward_data) return shard.product({count, rows, in, out});
  if (phase == Phase::backward_weights) return shard.product({count, out, in, rows});
  return {};
}

void check_tokens(std::string_view name, std::string_view what, const Extents& tensor) {
  if (tensor[Dim::d] == 1 && tensor[Dim::h] == 1) return;
  fail("{} takes {} of (n, c, w), not {}", name, what, show(tensor));
}

void check_groups(std::int64_t groups, std::string_view what, std::int64_t count) {
  check_range("groups", groups, 1, kMaxExtent);
  if (count % groups != 0) fail("{} groups do not divide {} {}", groups, count, what);
}

Extents groups_along_w(std::int64_t groups) {
  Extents units{};
  units[Dim::w] = groups;
  return units;
}

// All of a group for any of it, of this many groups, and the experts of all its elements.
AccessMap of_groups(const ReadContext& context, std::int64_t groups) {
  AccessMap map;
  map.dims[Dim::d] = access::Whole{};
  map.dims[Dim::w] =
      access::Blocks{context.output[Dim::w] / groups, context.extents[Dim::w] / groups};
  if (context.channels_before > 0) map.dims[Dim::c] = access::Whole{};  // the gates
  return map;
}

}  // namespace

Extents Router::output(InputExtents inputs) const {
  check_range("experts", experts, 1, kMaxExtent);
  check_range("top_k", top_k, 1, experts);
  check_choice();
  Extents out = only(inputs);
  check_tokens(name(), "tokens", out);
  out[Dim::c] = experts;
  return out;
}

void Router::check_choice() const {
  check_finite("scale", scale);
  if (scale <= 0) fail("scale must be positive");
  if (bias && correction) fail("a router has a bias or a correction, not both");
  check_range("groups", groups, 1, experts);
  check_range("top_groups", top_groups, 1, groups);
  if (experts % groups != 0) fail("{} groups do not divide {} experts", groups, experts);
  if (top_k > experts / groups * top_groups) {
    fail("top_k {} is more than the {} experts of {} groups", top_k, experts / groups * top_groups,
         top_groups);
  }
  if (groups > 1 && correction && experts / groups < 2) {
    fail("with a correction a group has two experts or more, not {}", experts / groups);
  }
}

AccessMap Router::reads(const ReadContext&) const {
  AccessMap map;
  map.dims[Dim::c] = access::Whole{};
  return map;
}

Parameters Router::parameters(InputExtents inputs) const {
  return {.weight = bounded_product(experts, inputs[0][Dim::c], kMaxElements),
          .bias = correction || bias ? experts : 0};
}

std::int64_t Router::macs_per_output(InputExtents inputs) const {
  return inputs[0][Dim::c];
}

// Beside the product, the softmax and the choice, or their gradient, before the others.
PhaseWork Router::work(const ShardShape& shard, Phase phase) const {
  PhaseWork work = products(shard, phase, 1, shard.out() / shard.output[Dim::c]);
  if (phase == Phase::forward) work.kernels = 3;
  if (phase == Phase::backward_data) work.kernels = 2;
  return work;
}

std::string Router::cost_attributes() const {
  return attribute_text("top_k", top_k);
}

std::string_view Router::why_whole(Dim dim) const {
  return dim == Dim::c ? "for a token's softmax is over all experts" : "";
}

std::int64_t Dispatch::slots_of(std::int64_t tokens, std::int64_t experts) const {
  const double wanted = static_cast<double>(top_k) * static_cast<double>(tokens) * capacity /
                        static_cast<double>(experts);
  if (wanted >= static_cast<double>(tokens)) return tokens;
  return std::max<std::int64_t>(1, std::llround(std::ceil(wanted - 1e-9)));
}

Extents Dispatch::output(InputExtents inputs) const {
  if (inputs.size() != 2) fail("dispatch takes tokens and gates, not {} inputs", inputs.size());
  const Extents &tokens = inputs[0], &gates = inputs[1];
  check_tokens(name(), "tokens", tokens);
  check_tokens(name(), "gates", gates);
  if (tokens[Dim::w] != gates[Dim::w]) {
    fail("dispatch takes gates of as many tokens, not {} and {}", show(tokens), show(gates));
  }
  check_range("top_k", top_k, 1, gates[Dim::c]);
  check_finite("capacity", capacity);
  if (capacity <= 0) fail("capacity must be positive");
  check_groups(groups, "tokens", tokens[Dim::w]);
  Extents out = tokens;
  out[Dim::d] = gates[Dim::c];
  out[Dim::w] = groups * slots_of(tokens[Dim::w] / groups, gates[Dim::c]);
  return out;
}

AccessMap Dispatch::reads(const ReadContext& context) const {
  return of_groups(context, groups);
}

Saved Dispatch::saved(const SavedContext& of) const {
  return {.values = volume(of.output) / of.output[Dim::c].size()};
}

// Reads a token and writes it for each slot; the gradients of a token's slots add up.
PhaseWork Dispatch::work(const ShardShape& shard, Phase phase) const {
  const std::int64_t tokens = volume(shard.inputs[0]), gates = volume(shard.inputs[1]);
  if (phase == Phase::forward) return shard.elements(gates + 2 * shard.out());
  if (phase == Phase::backward_data) return shard.elements(tokens + shard.out());
  return {};
}

Extents Dispatch::units(InputExtents) const {
  return groups_along_w(groups);
}

Extents ExpertLinear::output(InputExtents inputs) const {
  check_range("out_features", out_features, 1, kMaxExtent);
  Extents out = only(inputs);
  out[Dim::c] = out_features;
  return out;
}

AccessMap ExpertLinear::reads(const ReadContext&) const {
  AccessMap map;
  map.dims[Dim::c] = access::Reduced{};
  return map;
}

Parameters ExpertLinear::parameters(InputExtents inputs) const {
  const std::int64_t rows = bounded_product(inputs[0][Dim::d], out_features, kMaxElements);
  Parameters all{.weight = bounded_product(rows, inputs[0][Dim::c], kMaxElements),
                 .bias = bias ? rows : 0};
  all.loops[Dim::d] = true;
  return all;
}

std::int64_t ExpertLinear::macs_per_output(InputExtents inputs) const {
  return inputs[0][Dim::c];
}

PhaseWork ExpertLinear::work(const ShardShape& shard, Phase phase) const {
  const std::int64_t experts = shard.output[Dim::d];
  return products(shard, phase, experts, shard.out() / shard.output[Dim::c] / experts);
}

Extents Combine::output(InputExtents inputs) const {
  if (inputs.size() != 2) fail("combine takes slots and gates, not {} inputs", inputs.size());
  const Extents &slots = inputs[0], &gates = inputs[1];
  check_tokens(name(), "gates", gates);
  if (slots[Dim::d] != gates[Dim::c] || slots[Dim::h] != 1) {
    fail(
        "combine takes slots of (n, c, experts, 1, slots) and gates of as many experts, not {} "
        "and {}",
        show(slots), show(gates));
  }
  check_groups(groups, "tokens", gates[Dim::w]);
  check_groups(groups, "slots", slots[Dim::w]);
  Extents out = slots;
  out[Dim::d] = 1;
  out[Dim::w] = gates[Dim::w];
  return out;
}

AccessMap Combine::reads(const ReadContext& context) const {
  return of_groups(context, groups);
}

// Reads slots and gates, writes tokens; of these reads the gradient, and of both writes theirs.
PhaseWork Combine::work(const ShardShape& shard, Phase phase) const {
  if (phase == Phase::forward) return shard.elements(shard.in() + shard.out());
  if (phase == Phase::backward_data) return shard.elements(2 * shard.in() + shard.out());
  return {};
}

Extents Combine::units(InputExtents) const {
  return groups_along_w(groups);
}

}  // namespace strata
