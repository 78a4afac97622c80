#pragma once

// The public measurements that the P100 and K80 profiles are fitted to and held against:
// TensorFlow's benchmarks of 2017, one GPU, synthetic data, fp32, training images a second.

#include <cstdint>
#include <span>
#include <string_view>

#include "sim/case/predict.h"

namespace strata {

struct PublicFigure {
  std::string_view kind;
  std::string_view model;
  std::int64_t batch;
  double throughput;  ///< images a second
};
std::span<const PublicFigure> public_figures();

/// The figure's network and batch on one device of its kind, with the shipped profile.
Case public_case(const PublicFigure& figure);

/// Images a second of the case, as `strata predict` gives them.
double predicted_throughput(const Case& input);

}  // namespace strata
