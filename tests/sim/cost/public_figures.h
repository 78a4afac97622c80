#pragma once

// The public measurements that the P100 and K80 profiles are fitted to and held against:
// TensorFlow's benchmarks of 2017, one GPU, synthetic data, fp32, training images a second.

#include <cstdint>
#include <span>
#include <string_view>

#include "sim/base/units.h"
#include "sim/cost/cost_model.h"
#include "sim/graph/graph.h"

namespace strata {

struct PublicFigure {
  std::string_view kind;
  std::string_view model;
  std::int64_t batch;
  double throughput;  ///< images a second
};
std::span<const PublicFigure> public_figures();

/// One training step on one device: every phase of every layer, one after another.
Seconds one_device_step(const Graph& graph, const CostModel& costs);

}  // namespace strata
