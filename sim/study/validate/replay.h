#pragma once

// A step predicted from single sweeps: every shard takes what its own device took for it in that
// very sweep. Where one device was held up, the others wait for it in the simulated step as they do
// in a real one, and a slow minute is in the prediction as it is in the step. Pure; thread-safe.

#include <optional>
#include <vector>

#include "sim/case/predict.h"
#include "sim/measure/runner.h"

namespace strata {

class Replay {
 public:
  /// `prediction`: of the strategy, from the sweeps' medians. Both must outlive it.
  Replay(const Case& input, const Prediction& prediction);

  /// Steps that take the times of one sweep and of the other in turns. `before` and `after` are of
  /// shapes_of(graph, strategy) (calibrate.h). In its steady window both count alike.
  Timeline timeline(const RoundTimes& before, const RoundTimes& after) const;

 private:
  struct Compute {
    std::optional<std::size_t> shard;  ///< of the list, where it is measured
    Seconds assembling;                ///< of its inputs, which is no part of a sweep
  };
  /// Steps' costs, and the waits of each step's sweep: by device, sorted.
  struct Steps {
    std::vector<Cost> costs;
    std::vector<std::vector<std::vector<Wait>>> waits;
  };
  std::vector<double> paces(const RoundTimes& sweep) const;
  void add_step(Steps& steps, const RoundTimes& sweep) const;
  Seconds late(const Steps& steps, std::size_t slot, Seconds waited) const;
  std::vector<Seconds> all_late(const Steps& steps, const Timeline& timeline) const;
  Timeline simulate(const Steps& steps, const std::vector<Seconds>& late) const;
  Timeline begun_late(const Timeline& timeline, const std::vector<Seconds>& late) const;

  const Case& input_;
  const Prediction& prediction_;
  std::vector<Compute> compute_;  // by task
};

}  // namespace strata
