#pragma once

// The least, over all strategies, of a weighted mean of sums over their layers: what each device is
// busy for in a step, each of a few links, and how long the layers wait for one another. A step
// lasts at least as long as each of these, so at least as long as any weighted mean. Such a mean is
// a sum over the variables of a space and, in a chain, over neighbours; its least value is found
// variable by variable. The weights that give the most are found by cutting planes. Values;
// thread-safe.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/solver/solution.h"

namespace strata {

/// What is weighed: the same number of sums everywhere.
using BoundTerms = std::vector<double>;

/// A bucket is an interval of the layers that have a copy on every device, and is summed once it is
/// full (sim/plan/buckets.h). That of the first layer is summed last, so all that it holds is
/// waited for. Layers are met from the first one on; one that fills the bucket before it ends it.
struct LastBucket {
  double seconds_per_byte = 0;  ///< 0: none is waited for
  double first_limit = 0;       ///< bytes that fill the first bucket

  struct Variable {
    double bytes = 0;             ///< of its parameters
    std::vector<bool> on_all;     ///< by choice: whether every device has a copy
    bool may_fill_later = false;  ///< whether it may be the last of a bucket that is not the first
  };
  std::vector<Variable> variables;
};

struct BoundSums {
  std::size_t terms = 0;
  std::vector<std::vector<BoundTerms>> variables;  ///< by variable and choice
  /// Of a chain, by variable but the last: for each pair of its choices and those of the next one,
  /// row-major, all terms from `paired` on. Else empty.
  std::vector<std::vector<double>> pairs;
  std::size_t paired = 0;
  std::size_t chain = 0;  ///< which of the terms the last bucket adds to
  LastBucket bucket = {};

  std::span<const double> pair(std::size_t variable, std::size_t choice, std::size_t next) const {
    const std::size_t count = terms - paired;
    const std::size_t place = choice * variables[variable + 1].size() + next;
    return {pairs[variable].data() + place * count, count};
  }
};

/// The strategy with the least mean, and its sums.
struct LeastMean {
  double value = 0;
  Choices choices;
  BoundTerms sums;
};
LeastMean least_mean(const BoundSums& sums, std::span<const double> weights);

/// The largest of these over the weights that were tried. Calls `stop` in between, which may throw.
template <class Stop>
double largest_least_mean(const BoundSums& sums, const Stop& stop);

/// Weights that are good for all of these rows of sums.
std::vector<double> balanced_weights(std::span<const BoundTerms> rows,
                                     std::span<const double> from);

inline constexpr int kMostCuts = 24;
/// Weights that give so little more are not looked for.
inline constexpr double kCloseEnough = 2e-4;

template <class Stop>
double largest_least_mean(const BoundSums& sums, const Stop& stop) {
  std::vector<double> weights(sums.terms, 1.0 / static_cast<double>(sums.terms)), best_weights;
  std::vector<BoundTerms> rows;
  double best = 0;
  for (int i = 0; i < kMostCuts; ++i) {
    stop();
    LeastMean least = least_mean(sums, weights);
    if (best_weights.empty() || least.value > best) {
      best = least.value;
      best_weights = weights;
    }
    rows.push_back(std::move(least.sums));
    weights = balanced_weights(rows, best_weights);
    double promised = kInfinity;
    for (const BoundTerms& row : rows) {
      double mean = 0;
      for (std::size_t t = 0; t < row.size(); ++t) mean += weights[t] * row[t];
      promised = std::min(promised, mean);
    }
    if (promised <= (1 + kCloseEnough) * best) break;
    // Half way there and all the way in turn: the rows say little of what is far.
    if (i % 3 == 2) continue;
    for (std::size_t t = 0; t < weights.size(); ++t) {
      weights[t] = (weights[t] + best_weights[t]) / 2;
    }
  }
  return best;
}

}  // namespace strata
