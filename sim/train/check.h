#pragma once

// Whether a cut computed what one device computes. Each layer is compared on equal inputs
// (layer_check.h), where hardly anything may differ. What came of the whole training is compared,
// too; there, rounding decides on which side of 0 a ReLU's input falls, and grows from layer to
// layer and step to step. So where more differs than the tolerance, one device trains once more,
// from weights one unit in the last place away, and what that moves is the measure. Which ReLU
// that meets is chance: where it is not enough, weights go further, until they are as far away as
// layers may be. A gradient that is zero but for rounding is compared by the length of others
// (differences.h), and one of a training that has learnt its data by what its softmax rounds.

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "sim/case/weights.h"
#include "sim/train/differences.h"
#include "sim/train/layer_check.h"
#include "sim/train/train.h"

namespace strata {

/// What a training leaves.
struct Trained {
  TrainedSteps trained;
  NetworkWeights weights, gradients;
};

/// One training from other weights is one draw of what rounding does; another may be a few times as
/// far away.
inline constexpr double kTimesRounding = 8;

/// How far two trainings may be apart.
struct Allowance {
  double loss = 0, gradients = 0, weights = 0;
};

/// An allowance of half of what there is, or more: gradients that have nothing to do with each
/// other are 1.4 apart.
inline constexpr double kSaysNothing = 0.5;

enum class CheckVerdict : std::uint8_t { passed, failed, cannot_say };
std::string_view name(CheckVerdict verdict);

struct Check {
  Differences differences;              ///< of the cut from one device
  std::optional<Differences> rounding;  ///< of one device from itself; none where none was asked
  double softmax_rounding = 0;          ///< of gradients, relative to them, by the last loss
  std::uint32_t units = 0;              ///< in the last place, that weights were moved for it
  double tolerance = 0;
  bool strict = false;  ///< the tolerance is asked for, whatever rounding does
  LayerCheck layers;

  Allowance allowed() const;
  /// Whether what came of the whole training is within that.
  bool near() const;
  /// Where layers were not compared, and rounding moves the training so far that nearly anything
  /// is within that, nothing can be said.
  CheckVerdict verdict() const;
};

/// On one device, from these weights; `stage` is for who waits.
using TrainAlone = std::function<Trained(const NetworkWeights& from, std::string_view stage)>;

struct CheckOptions {
  std::optional<double> tolerance;  ///< of losses, gradients, weights, whatever rounding does
  DType type = DType::fp32;         ///< whose last place weights are moved by
};
/// All but the layers.
Check compare(const Graph& graph, const Trained& cut, const NetworkWeights& weights,
              const CheckOptions& options, const TrainAlone& train_alone);

}  // namespace strata
