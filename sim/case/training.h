#pragma once

// How a step trains: what is chosen beside the network, the machine and the strategy. Every request
// has one, of predictions, searches, runs and their comparison alike. Value.

#include <cstdint>
#include <optional>
#include <string>

#include "sim/graph/ops/phase.h"
#include "sim/graph/optimizer.h"
#include "sim/step/gradient_sync.h"
#include "sim/strategy/recomputation.h"
#include "sim/strategy/schedule.h"

namespace strata {

struct Training {
  std::optional<std::int64_t> batch;  ///< samples of a step; else batch_per_device x devices
  std::int64_t batch_per_device = 32;
  GradientSync sync = {SyncAlgorithm::ring, kUsualBucket};
  DType dtype = DType::fp32;
  std::optional<GradientType> gradients;  ///< of parameters; as parameters where not said
  Optimizer optimizer = Optimizer::sgd;
  std::optional<std::int64_t> micro_batch;  ///< samples of a round for each data-parallel group
  std::string schedule;                     ///< a ScheduleKind, a file, or the usual one
  PassOverlap overlap = PassOverlap::none;
  Recompute recompute = Recompute::none;
  std::string train = {};  ///< which parameters (parse_finetuning()); all where empty

  bool operator==(const Training&) const = default;
};

/// The samples of its step. Throws InputError where 64 bits do not hold them.
std::int64_t batch_of(const Training& training, std::size_t devices);

/// Calls visit(key, value) for each of its settings (sim/scenario/settings.h).
template <class AnyTraining, class Visit>
requires std::same_as<std::remove_const_t<AnyTraining>, Training>
void each_setting(AnyTraining& training, const Visit& visit) {
  visit("batch", training.batch);
  visit("batch_per_device", training.batch_per_device);
  visit("sync", training.sync.algorithm);
  visit("bucket", training.sync.bucket);
  visit("zero", training.sync.zero);
  visit("zero_group", training.sync.zero_group);
  visit("offload", training.sync.offload);
  visit("dtype", training.dtype);
  visit("gradients", training.gradients);
  visit("optimizer", training.optimizer);
  visit("micro_batch", training.micro_batch);
  visit("schedule", training.schedule);
  visit("overlap", training.overlap);
  visit("recompute", training.recompute);
  visit("train", training.train);
}

}  // namespace strata
