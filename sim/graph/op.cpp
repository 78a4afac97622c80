#include "sim/graph/op.h"

#include <concepts>

#include "sim/graph/ops/checks.h"

namespace strata {
namespace {

// What each page must answer.
template <class Page>
concept IsOp = std::equality_comparable<Page> &&
    requires(const Page& page, InputExtents inputs, const ReadContext& context,
             const ShardShape& shard) {
  { page.name() } -> std::convertible_to<std::string_view>;
  { page.output(inputs) } -> std::convertible_to<Extents>;
  { page.reads(context) } -> std::same_as<AccessMap>;
  { page.work(shard, Phase::forward) } -> std::same_as<PhaseWork>;
};
template <class... Pages>
constexpr bool are_ops(const std::variant<Pages...>*) {
  return (IsOp<Pages> && ...);
}
static_assert(are_ops(static_cast<const Op*>(nullptr)));

template <class Page>
void add_prototypes(std::vector<Op>& ops) {
  if constexpr (requires { Page::prototypes(); }) {
    for (const Page& each : Page::prototypes()) ops.emplace_back(each);
  } else {
    ops.emplace_back(Page{});
  }
}

template <class... Pages>
std::vector<Op> prototypes_of(const std::variant<Pages...>*) {
  std::vector<Op> ops;
  (add_prototypes<Pages>(ops), ...);
  return ops;
}

BackwardReads backward_reads(const Op& op) {
  return std::visit(
      [](const auto& page) {
        if constexpr (requires { page.backward_reads(); }) return page.backward_reads();
        return BackwardReads{};
      },
      op);
}

}  // namespace

std::string_view name(const Op& op) {
  return std::visit([](const auto& page) { return page.name(); }, op);
}

std::string signature(const Op& op) {
  std::string text(name(op));
  std::visit(
      [&](const auto& page) {
        if constexpr (requires { page.cost_attributes(); }) text += page.cost_attributes();
      },
      op);
  return text;
}

std::string signature(const Op& op, const Extents& output, const Parameters& held) {
  const auto* embedding = std::get_if<Embedding>(&op);
  if (embedding == nullptr || output[Dim::c] == 0) return signature(op);
  Embedding part = *embedding;
  part.vocabulary = held.weight / output[Dim::c];
  return signature(Op(part));
}

std::string title(const Op& op) {
  const auto* opaque = std::get_if<Opaque>(&op);
  return opaque ? "opaque (" + opaque->kind + ")" : std::string(name(op));
}

Op canonical(Op op) {
  std::visit(
      [](auto& page) {
        if constexpr (requires { page.make_canonical(); }) page.make_canonical();
      },
      op);
  return op;
}

Extents infer_output(const Op& op, InputExtents inputs) {
  const Extents out = std::visit([&](const auto& page) { return page.output(inputs); }, op);
  for (Dim dim : kDims) check_range(fmt::format("{} extent", word(dim)), out[dim], 1, kMaxExtent);
  return out;
}

Parameters infer_parameters(const Op& op, InputExtents inputs) {
  return std::visit(
      [&](const auto& page) {
        if constexpr (requires { page.parameters(inputs); }) return page.parameters(inputs);
        return Parameters{};
      },
      op);
}

std::int64_t macs_per_output(const Op& op, InputExtents inputs) {
  return std::visit(
      [&](const auto& page) {
        if constexpr (requires { page.macs_per_output(inputs); }) {
          return page.macs_per_output(inputs);
        }
        return std::int64_t{0};
      },
      op);
}

std::int64_t reduction(const Op& op, InputExtents inputs, const Extents& output) {
  return std::visit(
      [&](const auto& page) {
        if constexpr (requires { page.terms(); }) return page.terms();
        if (inputs.empty()) return std::int64_t{1};
        const AccessMap map = page.reads({inputs[0], output, 0});
        return map.is_reduced(Dim::c) ? inputs[0][Dim::c] : 1;
      },
      op);
}

Extents units(const Op& op, InputExtents inputs) {
  return std::visit(
      [&](const auto& page) {
        if constexpr (requires { page.units(inputs); }) return page.units(inputs);
        return Extents{};
      },
      op);
}

AccessMap access_map(const Op& op, const ReadContext& context) {
  return std::visit([&](const auto& page) { return page.reads(context); }, op);
}

const OpTraits& traits(const Op& op) {
  return std::visit([](const auto& page) -> const OpTraits& { return page.kTraits; }, op);
}

bool backward_reads_input(const Op& op, bool trains) {
  const BackwardReads reads = backward_reads(op);
  return reads.inputs && (trains || !reads.inputs_for_parameters);
}

bool backward_reads_output(const Op& op) {
  return backward_reads(op).output;
}

bool backward_reads_parameters(const Op& op) {
  return backward_reads(op).parameters;
}

Statistics statistics(const Op& op, const Box& output) {
  return std::visit(
      [&](const auto& page) {
        if constexpr (requires { page.statistics(output); }) return page.statistics(output);
        return Statistics{};
      },
      op);
}

Saved saved(const Op& op, const SavedContext& of) {
  return std::visit(
      [&](const auto& page) {
        if constexpr (requires { page.saved(of); }) return page.saved(of);
        return Saved{};
      },
      op);
}

std::string_view why_whole(const Op& op, Dim dim) {
  return std::visit(
      [&](const auto& page) {
        if constexpr (requires { page.why_whole(dim); }) return page.why_whole(dim);
        return std::string_view{};
      },
      op);
}

const std::vector<Op>& op_prototypes() {
  static const std::vector<Op> kOps = prototypes_of(static_cast<const Op*>(nullptr));
  return kOps;
}

std::string op_names() {
  std::string names;
  for (const Op& op : op_prototypes()) {
    names += names.empty() ? "" : ", ";
    names += name(op);
  }
  return names;
}

}  // namespace strata
