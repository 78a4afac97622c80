#include "sim/cost/converted_layouts.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "sim/cost/merged_products.h"

namespace strata {
namespace {

class ConvertingCosts final : public CostModel {
 public:
  explicit ConvertingCosts(std::shared_ptr<const CostModel> costs) : costs_(std::move(costs)) {}

  Cost compute(const ShardWork& work, Phase phase) const override {
    Cost cost = costs_->compute(work, phase);
    if (converts(work, phase) && cost.kernels > 0) {
      convert(work.inputs[0], work.dtypes.values, cost);
      convert(work.output, work.dtypes.values, cost);
    }
    return cost;
  }
  Cost move(MoveKind kind, Bytes bytes) const override { return costs_->move(kind, bytes); }
  Bytes memory_capacity() const override { return costs_->memory_capacity(); }
  bool computes_in(DType dtype) const override { return costs_->computes_in(dtype); }
  std::optional<FlopsPerSecond> peak(DType dtype) const override { return costs_->peak(dtype); }
  KernelTraits kernels() const override { return costs_->kernels(); }
  std::unique_ptr<CostModel> with(const KernelTraits& kernels) const override {
    return std::make_unique<ConvertingCosts>(costs_->with(kernels));
  }
  bool merges_products() const override { return costs_->merges_products(); }
  std::int64_t measured_devices() const override { return costs_->measured_devices(); }

  const std::shared_ptr<const CostModel>& unconverted() const { return costs_; }

 private:
  bool converts(const ShardWork& work, Phase phase) const {
    const DType dtype = work.dtypes.values;
    return std::holds_alternative<Convolution>(*work.op) && phase != Phase::update &&
           dtype != DType::fp32 && costs_->peak(dtype);
  }

  void convert(const Extents& tensor, DType dtype, Cost& cost) const {
    const Bytes bytes{volume(tensor) * element_bytes(dtype)};
    if (bytes <= Bytes{0}) return;
    cost.seconds += costs_->move(MoveKind::local, bytes).seconds;
    cost.source = std::max(cost.source, CostSource::related);
    ++cost.kernels;
  }

  std::shared_ptr<const CostModel> costs_;
};

}  // namespace

// What merges products stays outermost, so that either can be taken back, whichever came first.
std::shared_ptr<const CostModel> with_channels_innermost(
    const std::shared_ptr<const CostModel>& costs) {
  if (costs->merges_products()) {
    return merging_products(with_channels_innermost(products_apart(costs)));
  }
  const auto* const converting = dynamic_cast<const ConvertingCosts*>(costs.get());
  return converting != nullptr ? converting->unconverted() : costs;
}

std::shared_ptr<const CostModel> with_channels_outermost(
    const std::shared_ptr<const CostModel>& costs) {
  if (costs->merges_products()) {
    return merging_products(with_channels_outermost(products_apart(costs)));
  }
  return std::make_shared<ConvertingCosts>(with_channels_innermost(costs));
}

}  // namespace strata
