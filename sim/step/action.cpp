#include "sim/step/action.h"

namespace strata {
namespace {

struct EndsRounds {
  bool operator()(const SumGradients& /*unused*/) const { return true; }
  bool operator()(const UpdateLayer& /*unused*/) const { return true; }
  bool operator()(const UpdateBucket& /*unused*/) const { return true; }
  bool operator()(const SumIntervals& /*unused*/) const { return true; }
  bool operator()(const UpdateInterval& /*unused*/) const { return true; }
  bool operator()(const GatherUpdated& /*unused*/) const { return true; }
  bool operator()(const SumGradientNorm& /*unused*/) const { return true; }
  bool operator()(const Read& /*unused*/) const { return false; }
  bool operator()(const GatherParameters& /*unused*/) const { return false; }
  bool operator()(const Compute& /*unused*/) const { return false; }
  bool operator()(const SumStatistics& /*unused*/) const { return false; }
  bool operator()(const SumPartialOutputs& /*unused*/) const { return false; }
  bool operator()(const SumOutputGradient& /*unused*/) const { return false; }
  bool operator()(const ReturnGradient& /*unused*/) const { return false; }
  bool operator()(const Forget& /*unused*/) const { return false; }
  bool operator()(const PutTogetherAgain& /*unused*/) const { return false; }
  bool operator()(const GatherInputsAgain& /*unused*/) const { return false; }
  bool operator()(const ReduceScatter& /*unused*/) const { return false; }
};

}  // namespace

bool Action::ends_rounds() const {
  return std::visit(EndsRounds{}, work);
}

}  // namespace strata
