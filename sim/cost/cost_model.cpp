#include "sim/cost/cost_model.h"

#include "sim/cost/measured_costs.h"
#include "sim/cost/roofline.h"
#include "sim/cost/work.h"

namespace strata {
namespace {

class ProfileCostModel final : public CostModel {
 public:
  explicit ProfileCostModel(const Profile& profile)
      : capacity_(profile.memory_capacity.value), measured_(profile.measured), roofline_(profile) {}

  Cost compute(const ShardWork& work, Phase phase) const override {
    const PhaseWork needed = phase_work(work, phase);
    if (!needed.any) return {{}, CostSource::analytic};
    if (const auto cost = measured_(work, phase)) return *cost;
    return {roofline_(needed, work.dtype), CostSource::analytic};
  }
  Bytes memory_capacity() const override { return capacity_; }

 private:
  Bytes capacity_;
  MeasuredCosts measured_;
  Roofline roofline_;
};

}  // namespace

std::unique_ptr<CostModel> make_cost_model(const Profile& profile) {
  return std::make_unique<ProfileCostModel>(profile);
}

}  // namespace strata
