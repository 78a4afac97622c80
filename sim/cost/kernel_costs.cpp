#include "sim/cost/kernel_costs.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "sim/kernels/kernel_model.h"

namespace strata {
namespace {

// What FlashAttention's figures of training were measured at: heads of 2,048 features together,
// 16,384 positions of all samples, 512 to 16,384 of each.
constexpr std::int64_t kTrainingFeatures = 2048, kTrainingPositions = 16384;
constexpr std::int64_t kShortest = 512, kLongest = 16384;
// Of the work of both passes, the backward one's: five products of the seven.
constexpr double kBackwardShare = 5.0 / 7;

using Kind = CostSource;

Cost scaled(Cost cost, double factor) {
  cost.seconds = cost.seconds * factor;
  cost.source = std::max(cost.source, Kind::related);
  return cost;
}

KernelShape training_shape(const KernelShape& attention, bool causal) {
  const std::int64_t seq = std::clamp(attention[1], kShortest, kLongest);
  const std::int64_t heads = std::max<std::int64_t>(1, kTrainingFeatures / attention[4]);
  return {kTrainingPositions / seq, seq, heads, heads, attention[4], causal ? 1 : 0};
}

// Both 2-D and the same along h and w.
bool is_square(const Convolution& op) {
  const Window &h = op.windows.h, &w = op.windows.w;
  return op.rank == 2 && op.groups == 1 && h.kernel == w.kernel && h.stride == w.stride &&
         h.dilation == 1 && w.dilation == 1 && h.pad_begin == h.pad_end && w == h;
}

// Of a square input whose output has this side. A stride may leave less to pad at the end: then the
// input is larger than the least that gives such an output.
std::int64_t size_of_input(const ShardWork& work, const Window& window, std::int64_t side) {
  const std::int64_t least = (side - 1) * window.stride + window.kernel - 2 * window.pad_begin;
  const std::int64_t height = work.inputs[0][Dim::h], width = work.inputs[0][Dim::w];
  const bool own = height == width && height > least && height < least + window.stride;
  return own ? height : least;
}

}  // namespace

KernelCosts::KernelCosts(const Profile& profile) {
  entries_.reserve(profile.tables.size());
  for (const KernelTable& table : profile.tables) {
    entries_.push_back(std::make_unique<const Entry>(table));
  }
  const auto peak = [&](DType dtype) { return profile.peaks[static_cast<std::size_t>(dtype)]; };
  const auto half = peak(DType::bf16), other = peak(DType::fp16);
  if (half && other && half->value == other->value) {
    alike_[static_cast<std::size_t>(DType::fp16)] = DType::bf16;
    alike_[static_cast<std::size_t>(DType::bf16)] = DType::fp16;
  }
  alike_[static_cast<std::size_t>(DType::mxfp8)] = DType::fp8_block;
  const auto tf32 = peak(DType::tf32);
  tf32_is_half_ = tf32 && half && half->value.value == 2 * tf32->value.value;
}

KernelCosts::Found KernelCosts::find(KernelKind kernel, DType dtype) const {
  const auto of = [&](DType type) -> const Entry* {
    const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) {
      return entry->table.kernel == kernel && entry->table.dtype == type;
    });
    return found == entries_.end() ? nullptr : found->get();
  };
  if (const Entry* own = of(dtype)) return {own, false};
  const auto& alike = alike_[static_cast<std::size_t>(dtype)];
  return alike ? Found{of(*alike), true} : Found{};
}

std::optional<Cost> KernelCosts::ask(KernelKind kernel, DType dtype,
                                     const KernelShape& shape) const {
  const Found found = find(kernel, dtype);
  if (found.entry == nullptr) return std::nullopt;
  const auto time = found.entry->times(shape);
  if (!time) return std::nullopt;
  return Cost{time->seconds, found.related    ? Kind::related
                             : time->measured ? Kind::measured
                                              : Kind::interpolated};
}

std::optional<Cost> KernelCosts::operator()(const ShardWork& work, Phase phase,
                                            const PhaseWork& needed,
                                            const KernelTraits& kernels) const {
  if (entries_.empty() || !needed.any) return std::nullopt;
  if (std::holds_alternative<Opaque>(*work.op)) return opaque(needed, phase, work.dtypes.values);
  if (std::holds_alternative<Attention>(*work.op)) {
    return kernels.fused_attention() ? attention(work, phase, needed) : std::nullopt;
  }
  if (std::holds_alternative<Convolution>(*work.op) && phase != Phase::update) {
    return convolution(work, phase, needed);
  }
  if (needed.direct.count > 0) return product(needed.direct, phase, work.dtypes.values);
  return pass(work, phase, needed);
}

// Nobody knows its kernels, but a product that its shapes tell of is like any other.
std::optional<Cost> KernelCosts::opaque(const PhaseWork& needed, Phase phase, DType dtype) const {
  if (needed.direct.count == 0) return std::nullopt;
  const auto cost = product(needed.direct, phase, dtype);
  return cost ? std::optional(scaled(*cost, 1)) : std::nullopt;
}

// Forward as measured, y = x w; the backward products read a transposed operand, which is taken to
// be no slower.
std::optional<Cost> KernelCosts::product(const Gemm& gemm, Phase phase, DType dtype) const {
  if (gemm.m == 0 || gemm.n == 0 || gemm.k == 0) return std::nullopt;
  const KernelShape shape = {gemm.count, gemm.m, gemm.n, gemm.k};
  auto cost = ask(KernelKind::product, dtype, shape);
  if (!cost && dtype == DType::tf32 && tf32_is_half_) cost = tf32_product(shape);
  if (!cost || phase == Phase::forward) return cost;
  return scaled(*cost, 1);
}

// An instruction of the same units that multiplies half as deep, of elements twice as long: a
// product in tf32 is one in bf16 of twice the k, in instructions and in bytes that it reads. What
// it writes is twice as long, too, which counts where bytes decide.
std::optional<Cost> KernelCosts::tf32_product(KernelShape shape) const {
  const Found found = find(KernelKind::product, DType::bf16);
  if (found.entry == nullptr) return std::nullopt;
  const std::span<const double> model = found.entry->table.parameters;
  const double bytes = kernel_bytes(KernelKind::product, DType::tf32, shape);
  shape[3] *= 2;
  auto cost = ask(KernelKind::product, DType::bf16, shape);
  if (!cost) return std::nullopt;
  cost->seconds = std::max(cost->seconds, Seconds{model[0] + bytes / model[2]});
  return scaled(*cost, 1);
}

// What both passes take at FlashAttention's own shape, times the backward one's share, of what the
// table says of the forward one there.
std::optional<double> KernelCosts::training_ratio(const KernelShape& attention, DType dtype) const {
  const KernelShape shape = training_shape(attention, true);
  const auto both = ask(KernelKind::attention_training, dtype, shape);
  const auto forward =
      ask(KernelKind::attention, dtype, {shape[0], shape[1], shape[2], shape[3], shape[4]});
  if (!both || !forward) return std::nullopt;
  return kBackwardShare * (both->seconds / forward->seconds);
}

std::optional<double> KernelCosts::unmasked_ratio(const KernelShape& attention, DType dtype) const {
  const auto all = ask(KernelKind::attention_training, dtype, training_shape(attention, false));
  const auto half = ask(KernelKind::attention_training, dtype, training_shape(attention, true));
  if (!all || !half) return std::nullopt;
  return all->seconds / half->seconds;
}

// The rows are causal, of as many queries as keys. Fewer queries, or a window of keys, cost in
// proportion to the pairs that are seen.
std::optional<Cost> KernelCosts::attention(const ShardWork& work, Phase phase,
                                           const PhaseWork& needed) const {
  const auto& op = std::get<Attention>(*work.op);
  const std::int64_t queries = work.inputs[0][Dim::w], keys = work.inputs[1][Dim::w];
  if (queries == 0 || keys == 0 || needed.direct.count == 0) return std::nullopt;
  const DType dtype = work.dtypes.values;
  const KernelShape shape = {work.output[Dim::n], keys, work.output[Dim::c] / op.head_size,
                             work.inputs[1][Dim::c] / op.head_size, op.head_size};
  auto cost = ask(KernelKind::attention, dtype, shape);
  if (!cost) return std::nullopt;
  if (!op.causal) {
    const auto ratio = unmasked_ratio(shape, dtype);
    if (!ratio) return std::nullopt;
    cost = scaled(*cost, *ratio * static_cast<double>(queries) / static_cast<double>(keys));
  } else if (queries != keys || op.window > 0) {
    const PhaseWork forward = std::visit(
        [&](const auto& page) {
          return page.work({work.output, work.inputs, work.parameters, dtype}, Phase::forward);
        },
        *work.op);
    cost = scaled(*cost,
                  forward.direct.flops().value / kernel_flops(KernelKind::attention, shape).value);
  }
  if (phase == Phase::forward) return cost;
  const auto ratio = training_ratio(shape, dtype);
  if (!ratio) return std::nullopt;
  return scaled(*cost, *ratio);
}

// Backward passes multiply as often as the forward one: of the data, from the output's channels to
// the input's. A window of one element is a product.
std::optional<Cost> KernelCosts::convolution(const ShardWork& work, Phase phase,
                                             const PhaseWork& needed) const {
  const auto& op = std::get<Convolution>(*work.op);
  if (!is_square(op) || needed.direct.count == 0) return std::nullopt;
  const DType dtype = work.dtypes.values;
  const Window& window = op.windows.h;
  if (window.kernel == 1) {
    const auto cost = product(needed.direct, phase, dtype);
    if (!cost) return std::nullopt;
    return scaled(*cost, 1);
  }
  const std::int64_t height = work.output[Dim::h], width = work.output[Dim::w];
  const auto side =
      std::llround(std::sqrt(static_cast<double>(height) * static_cast<double>(width)));
  KernelShape shape = {work.output[Dim::n],
                       work.inputs[0][Dim::c],
                       work.output[Dim::c],
                       window.kernel,
                       size_of_input(work, window, side),
                       window.stride,
                       window.pad_begin};
  if (shape[4] < 1 || shape[1] < 1) return std::nullopt;
  if (phase == Phase::backward_data) std::swap(shape[1], shape[2]);
  auto cost = ask(KernelKind::convolution, dtype, shape);
  if (!cost || (phase == Phase::forward && height == width)) return cost;
  return scaled(*cost, static_cast<double>(height * width) / static_cast<double>(side * side));
}

// An activation and a sum of two are rows; everything else that is bound by memory takes as long as
// a pass over as many bytes.
std::optional<Cost> KernelCosts::pass(const ShardWork& work, Phase phase,
                                      const PhaseWork& needed) const {
  const DType dtype = work.dtypes.values;
  const std::int64_t elements = volume(work.output);
  const bool forward = phase == Phase::forward;
  if (forward && name(*work.op) == "relu") {
    if (const auto cost = ask(KernelKind::elementwise, dtype, {2, elements})) return cost;
  }
  if (forward && std::holds_alternative<Add>(*work.op) && work.inputs.size() == 2) {
    if (const auto cost = ask(KernelKind::elementwise, dtype, {3, elements})) return cost;
  }
  const auto table = std::find_if(entries_.begin(), entries_.end(), [](const auto& entry) {
    return entry->table.kernel == KernelKind::elementwise;
  });
  if (table == entries_.end() || needed.bytes <= Bytes{0}) return std::nullopt;
  const DType measured = (*table)->table.dtype;
  const std::int64_t as_read_and_written =
      std::max<std::int64_t>(1, needed.bytes.value / (2 * element_bytes(measured)));
  const auto time = (*table)->times({2, as_read_and_written});
  if (!time) return std::nullopt;
  return Cost{time->seconds, Kind::related};
}

}  // namespace strata
