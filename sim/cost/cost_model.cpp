#include "sim/cost/cost_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <variant>

#include "sim/cost/kernel_costs.h"
#include "sim/cost/measured_costs.h"
#include "sim/cost/measured_moves.h"
#include "sim/cost/roofline.h"
#include "sim/cost/work.h"

namespace strata {
namespace {

// By DType.
using ComputesIn = std::array<bool, kDTypeNames.size()>;

ComputesIn types_of(const Profile& profile) {
  ComputesIn has{};
  for (std::size_t i = 0; i < has.size(); ++i) has[i] = profile.peaks[i].has_value();
  for (const MeasuredCost& row : profile.measured)
    has[static_cast<std::size_t>(row.key.dtype)] = true;
  return has;
}

using PeakOfType = std::array<std::optional<FlopsPerSecond>, kDTypeNames.size()>;
PeakOfType values_of(const Peaks& figures) {
  PeakOfType values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (figures[i]) values[i] = figures[i]->value;
  }
  return values;
}

using MfuOfType = std::array<std::optional<double>, kDTypeNames.size()>;
MfuOfType mfus_of(const Profile& profile) {
  MfuOfType mfus;
  for (std::size_t i = 0; i < mfus.size(); ++i) {
    if (profile.published_mfu[i]) mfus[i] = profile.published_mfu[i]->value;
  }
  return mfus;
}

double nccl_share_of(const Profile& profile) {
  if (!profile.nccl_channels) return 0;
  return static_cast<double>(profile.nccl_channels->value) /
         static_cast<double>(profile.efficiency.cores.value);
}

class ProfileCostModel final : public CostModel {
 public:
  explicit ProfileCostModel(const Profile& profile)
      : capacity_(profile.memory_capacity.value),
        nccl_channels_(profile.nccl_channels ? profile.nccl_channels->value : 0),
        nccl_share_(nccl_share_of(profile)),
        power_(profile.power ? std::optional(profile.power->value) : std::nullopt),
        measured_(profile.measured),
        moves_(profile.moves),
        tables_(std::make_shared<const KernelCosts>(profile)),
        roofline_(profile),
        computes_in_(types_of(profile)),
        peaks_(values_of(profile.peaks)),
        sustained_(values_of(profile.sustained)),
        mfus_(mfus_of(profile)),
        kernels_(profile.kernels),
        attention_(profile.attention),
        measured_devices_(profile.devices) {}

  Cost compute(const ShardWork& asked, Phase phase) const override {
    ShardWork work = asked;
    if (!computes_in(work.dtypes.values)) work.dtypes.values = stored(work.dtypes.values);
    const PhaseWork needed = phase_work(work, phase, kernels_);
    Cost cost = time(work, needed, phase);
    cost.kernels = needed.any ? needed.kernels : 0;
    if (kernels_.channels_outermost && needed.any && on_matrix_units(work, phase)) {
      convert(work.inputs[0], work.dtypes.values, cost);
      convert(work.output, work.dtypes.values, cost);
    }
    turn(work, phase, cost);
    cast(work, phase, cost);
    return cost;
  }
  Cost move(MoveKind kind, Bytes bytes) const override {
    if (bytes <= Bytes{0}) return {{}, CostSource::analytic};
    if (const auto cost = moves_(kind, bytes)) return *cost;
    PhaseWork passes;
    passes.any = true;
    passes.bytes = bytes * (kind == MoveKind::reduce ? 3 : 2);
    return {roofline_(passes, DType::fp32), CostSource::analytic};
  }
  Bytes memory_capacity() const override { return capacity_; }
  std::int64_t nccl_channels() const override { return nccl_channels_; }
  double nccl_share() const override { return nccl_share_; }
  // A limit says nothing where no rate is known to be due to it.
  std::optional<Watts> power(DType dtype) const override {
    return sustained_[static_cast<std::size_t>(dtype)] ? power_ : std::nullopt;
  }
  bool computes_in(DType dtype) const override {
    return computes_in_[static_cast<std::size_t>(dtype)];
  }
  std::optional<FlopsPerSecond> peak(DType dtype) const override {
    return peaks_[static_cast<std::size_t>(dtype)];
  }
  std::optional<double> published_mfu(DType dtype) const override {
    return mfus_[static_cast<std::size_t>(dtype)];
  }
  KernelTraits kernels() const override { return kernels_; }
  bool has(AttentionKernel kernel) const override {
    return CostModel::has(kernel) || attention_[static_cast<std::size_t>(kernel)].has_value();
  }
  std::unique_ptr<CostModel> with(const KernelTraits& kernels) const override {
    auto other = std::make_unique<ProfileCostModel>(*this);
    other->kernels_ = kernels;
    return other;
  }
  std::int64_t measured_devices() const override { return measured_devices_; }

 private:
  Cost time(const ShardWork& work, const PhaseWork& needed, Phase phase) const {
    if (is_of_these(work)) {
      if (const auto cost = row(work, needed, phase)) return implemented(*cost, work, phase);
    }
    if (!needed.any) return {{}, CostSource::analytic};
    const DType dtype = work.dtypes.values;
    Cost cost{roofline_(needed, dtype), CostSource::analytic};
    if (const auto of_tables = (*tables_)(work, phase, needed, kernels_)) cost = *of_tables;
    return kept_up(implemented(cost, work, phase), needed, dtype);
  }

  // An attention by the chosen implementation, of what the rows' own takes.
  Cost implemented(Cost cost, const ShardWork& work, Phase phase) const {
    const auto& speed = attention_[static_cast<std::size_t>(kernels_.attention)];
    if (!speed || !std::holds_alternative<Attention>(*work.op)) return cost;
    const Sourced<double>& of = phase == Phase::forward ? speed->forward : speed->backward;
    if (of.value == 1) return cost;
    return {cost.seconds / of.value, std::max(cost.source, CostSource::related), cost.spread};
  }

  // As fast as the device's power allows it for seconds.
  Cost kept_up(Cost cost, const PhaseWork& needed, DType dtype) const {
    const auto& most = sustained_[static_cast<std::size_t>(dtype)];
    if (!most || kernels_.burst_clocks) return cost;
    const double rate = most->value * kernels_.sustained_share;
    const Seconds least{needed.direct.flops().value / rate};
    if (cost.seconds >= least) return cost;
    return {least, std::max(cost.source, CostSource::related)};
  }

  // Of a convolution. fp32, and types of which the kind has no peak, are computed without them.
  bool on_matrix_units(const ShardWork& work, Phase phase) const {
    const DType dtype = work.dtypes.values;
    return std::holds_alternative<Convolution>(*work.op) && phase != Phase::update &&
           dtype != DType::fp32 && peak(dtype);
  }

  // To the other layout: a copy within the device's memory, a kernel of its own. Those of weights,
  // which are small, are not counted.
  void convert(const Extents& tensor, DType dtype, Cost& cost) const {
    const Bytes bytes{volume(tensor) * element_bytes(dtype)};
    if (bytes <= Bytes{0}) return;
    cost.seconds += move(MoveKind::local, bytes).seconds;
    cost.source = std::max(cost.source, CostSource::related);
    ++cost.kernels;
  }

  // Queries and keys, by their rotary positions; the gradients of both turn back. A kernel reads
  // and writes each once; the passes of an operation at a time were measured (docs/frameworks.md).
  void turn(const ShardWork& work, Phase phase, Cost& cost) const {
    constexpr double kForwardPasses = 20.4, kBackwardPasses = 24.3;
    constexpr std::int32_t kForwardKernels = 10, kBackwardKernels = 14;
    const auto* const attention = std::get_if<Attention>(work.op);
    if (attention == nullptr || attention->rotary <= 0 || cost.kernels == 0) return;
    if (kernels_.rotary == RotaryKernel::within) return;
    const bool eager = kernels_.rotary == RotaryKernel::eager, forward = phase == Phase::forward;
    const double passes = !eager ? 2 : forward ? kForwardPasses : kBackwardPasses;
    const auto elements = static_cast<double>(volume(work.inputs[0]) + volume(work.inputs[1]));
    PhaseWork needed;
    needed.any = true;
    needed.bytes = Bytes{
        std::llround(elements * passes * static_cast<double>(element_bytes(work.dtypes.values)))};
    cost.seconds += roofline_(needed, DType::fp32);
    cost.source = std::max(cost.source, CostSource::related);
    cost.kernels += !eager ? 1 : forward ? kForwardKernels : kBackwardKernels;
  }

  // What a product in fp8 reads, once for each use: two bytes of an element are read, and two
  // written, of which one lies transposed. Weights are cast once a step. The rows of other types
  // have their casts within.
  void cast(const ShardWork& work, Phase phase, Cost& cost) const {
    const bool casts = work.dtypes.values == DType::fp8 && traits(*work.op).casts;
    if (!casts || cost.kernels == 0) return;
    const bool forward = phase == Phase::forward;
    if (!forward && phase != Phase::backward_data) return;
    const std::int64_t elements = volume(forward ? work.inputs[0] : work.output);
    PhaseWork needed;
    needed.any = true;
    needed.bytes = Bytes{elements * 2 * element_bytes(DType::fp8)};
    cost.seconds += roofline_(needed, DType::fp32);
    cost.source = std::max(cost.source, CostSource::related);
    ++cost.kernels;
  }

  // What was measured is a fused attention.
  bool is_of_these(const ShardWork& work) const {
    return kernels_.fused_attention() || !std::holds_alternative<Attention>(*work.op);
  }

  // An update by an optimizer of which there is no row takes as much longer than that by another,
  // which keeps about as much, as it has more to move.
  std::optional<Cost> row(const ShardWork& work, const PhaseWork& needed, Phase phase) const {
    auto own = measured_(work, phase);
    if (phase != Phase::update) return own;
    if (own) return with_all_passes(*own, work, needed);
    std::optional<Cost> nearest;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::size_t i = 0; i < kOptimizers.size(); ++i) {
      ShardWork other = work;
      other.optimizer = static_cast<Optimizer>(i);
      const std::int64_t apart =
          std::abs(state_words(other.optimizer) - state_words(work.optimizer));
      if (other.optimizer == work.optimizer || apart >= least) continue;
      if (auto cost = measured_(other, phase)) {
        nearest = scaled(*cost, needed.bytes, phase_work(other, phase).bytes);
        least = apart;
      }
    }
    return nearest;
  }

  // What was measured is one kernel that updates and does nothing else.
  static Cost with_all_passes(Cost cost, const ShardWork& work, const PhaseWork& needed) {
    const Bytes usual = phase_work(work, Phase::update).bytes;
    return needed.bytes == usual ? cost : scaled(cost, needed.bytes, usual);
  }

  static Cost scaled(Cost cost, Bytes to, Bytes from) {
    if (from <= Bytes{0}) return cost;
    cost.seconds = cost.seconds * (static_cast<double>(to.value) / static_cast<double>(from.value));
    cost.source = CostSource::interpolated;
    return cost;
  }

  Bytes capacity_;
  std::int64_t nccl_channels_;
  double nccl_share_;
  std::optional<Watts> power_;
  MeasuredCosts measured_;
  MeasuredMoves moves_;
  std::shared_ptr<const KernelCosts> tables_;
  Roofline roofline_;
  ComputesIn computes_in_;
  PeakOfType peaks_, sustained_;
  MfuOfType mfus_;
  KernelTraits kernels_;
  AttentionSpeeds attention_;
  std::int64_t measured_devices_;
};

}  // namespace

std::unique_ptr<CostModel> make_cost_model(const Profile& profile) {
  return std::make_unique<ProfileCostModel>(profile);
}

}  // namespace strata
