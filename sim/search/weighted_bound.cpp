#include "sim/search/weighted_bound.h"

#include <algorithm>
#include <cmath>

namespace strata {
namespace {

constexpr int kBalancingSteps = 1500;
constexpr double kLeastStartingWeight = 1e-4;

double weighed(std::span<const double> terms, std::span<const double> weights) {
  double sum = 0;
  for (std::size_t t = 0; t < terms.size(); ++t) sum += weights[t] * terms[t];
  return sum;
}

// Where a walk from the first layer on stands: in the bucket of the first layer; above it, where
// the first bucket of all is; above any other; or where the first layer has no such bucket.
enum State : std::uint8_t { in_last, in_first, free_of_it };
constexpr std::size_t kStates = 3;
using Costs = std::array<double, kStates>;
constexpr Costs kNever = {kInfinity, kInfinity, kInfinity};

struct Step {
  std::uint32_t choice = 0;
  State state = in_last;
};

// Variable by variable: the least cost of what comes before, by choice and state.
class Walk {
 public:
  Walk(const BoundSums& sums, std::span<const double> weights) : sums_(sums), weights_(weights) {}

  LeastMean run() {
    start();
    for (std::size_t v = 1; v < sums_.variables.size(); ++v) step(v);
    return trace();
  }

 private:
  void start() {
    const std::size_t count = sums_.variables.front().size();
    costs_.assign(count, kNever);
    for (std::size_t c = 0; c < count; ++c) {
      costs_[c][waits(0, c) ? in_last : free_of_it] = own(0, c);
    }
  }

  double own(std::size_t v, std::size_t c) const {
    return weighed(sums_.variables[v][c], weights_);
  }

  // Whether the choice's gradients may be in the bucket of the first layer.
  bool waits(std::size_t v, std::size_t c) const {
    if (sums_.bucket.seconds_per_byte == 0) return false;
    const LastBucket::Variable& variable = sums_.bucket.variables[v];
    return variable.bytes > 0 && variable.on_all[c];
  }

  double bucket_seconds(std::size_t v) const {
    return sums_.bucket.seconds_per_byte * sums_.bucket.variables[v].bytes;
  }

  void step(std::size_t v) {
    const std::size_t count = sums_.variables[v].size();
    std::vector<Costs> next(count, kNever);
    std::vector<std::array<Step, kStates>>& from = steps_.emplace_back(count);
    for (std::uint32_t a = 0; a < costs_.size(); ++a) {
      for (std::size_t b = 0; b < count; ++b) {
        const double pair = weighed(sums_.pair(v - 1, a, b), weights_.subspan(sums_.paired));
        for (const State state : {in_last, in_first, free_of_it}) {
          if (costs_[a][state] == kInfinity) continue;
          move(v, b, {a, state}, costs_[a][state] + pair, next[b], from[b]);
        }
      }
    }
    for (std::size_t b = 0; b < count; ++b) {
      for (double& cost : next[b]) cost += own(v, b);
    }
    costs_ = std::move(next);
  }

  void move(std::size_t v, std::size_t b, Step before, double cost, Costs& next,
            std::array<Step, kStates>& from) const {
    const auto reach = [&](State state, double more) {
      if (cost + more >= next[state]) return;
      next[state] = cost + more;
      from[state] = before;
    };
    if (!waits(v, b)) return reach(before.state, 0);
    switch (before.state) {
      case in_last:
        reach(in_last, weights_[sums_.chain] * bucket_seconds(v));
        reach(in_first, 0);
        if (sums_.bucket.variables[v].may_fill_later) reach(free_of_it, 0);
        break;
      case in_first:  // which it would have filled before
        if (sums_.bucket.variables[v].bytes < sums_.bucket.first_limit) reach(in_first, 0);
        break;
      case free_of_it:
        reach(free_of_it, 0);
        break;
    }
  }

  LeastMean trace() const {
    LeastMean least{kInfinity, Choices(sums_.variables.size()), BoundTerms(sums_.terms)};
    Step at;
    for (std::uint32_t c = 0; c < costs_.size(); ++c) {
      for (const State state : {in_last, in_first, free_of_it}) {
        if (costs_[c][state] >= least.value) continue;
        least.value = costs_[c][state];
        at = {c, state};
      }
    }
    for (std::size_t v = sums_.variables.size(); v-- > 0;) {
      least.choices[v] = at.choice;
      add(sums_.variables[v][at.choice], least.sums);
      if (v == 0) break;
      const Step before = steps_[v - 1][at.choice][at.state];
      add(sums_.pair(v - 1, before.choice, at.choice), std::span(least.sums).subspan(sums_.paired));
      if (at.state == in_last && waits(v, at.choice)) {
        least.sums[sums_.chain] += bucket_seconds(v);
      }
      at = before;
    }
    return least;
  }

  static void add(std::span<const double> terms, std::span<double> sums) {
    for (std::size_t t = 0; t < sums.size(); ++t) sums[t] += terms[t];
  }

  const BoundSums& sums_;
  std::span<const double> weights_;
  std::vector<Costs> costs_;                                   // by choice of the variable at hand
  std::vector<std::vector<std::array<Step, kStates>>> steps_;  // by variable but the first
};

LeastMean least_of_each(const BoundSums& sums, std::span<const double> weights) {
  LeastMean least{0, {}, BoundTerms(sums.terms)};
  for (const std::vector<BoundTerms>& choices : sums.variables) {
    std::uint32_t best = 0;
    double value = kInfinity;
    for (std::uint32_t c = 0; c < choices.size(); ++c) {
      const double mean = weighed(choices[c], weights);
      if (mean >= value) continue;
      value = mean;
      best = c;
    }
    least.value += value;
    least.choices.push_back(best);
    for (std::size_t t = 0; t < sums.terms; ++t) least.sums[t] += choices[best][t];
  }
  return least;
}

}  // namespace

LeastMean least_mean(const BoundSums& sums, std::span<const double> weights) {
  return sums.pairs.empty() ? least_of_each(sums, weights) : Walk(sums, weights).run();
}

// A game: one side weighs, the other picks the row that comes out least. The weights grow as the
// exponential of what they would have won (Freund and Schapire 1999).
std::vector<double> balanced_weights(std::span<const BoundTerms> rows,
                                     std::span<const double> from) {
  std::vector<double> logs, weights(from.size()), best(from.begin(), from.end());
  double scale = kInfinity, most = 0;
  for (const BoundTerms& row : rows) {
    scale = std::min(scale, *std::max_element(row.begin(), row.end()));
  }
  if (scale == 0) return best;
  for (const double weight : from) logs.push_back(std::log(std::max(weight, kLeastStartingWeight)));
  for (int step = 1; step <= kBalancingSteps; ++step) {
    const double highest = *std::max_element(logs.begin(), logs.end());
    double sum = 0;
    for (std::size_t t = 0; t < logs.size(); ++t) sum += weights[t] = std::exp(logs[t] - highest);
    for (double& weight : weights) weight /= sum;
    const BoundTerms* least = nullptr;
    double value = kInfinity;
    for (const BoundTerms& row : rows) {
      const double mean = weighed(row, weights);
      if (mean >= value) continue;
      value = mean;
      least = &row;
    }
    if (value > most) {
      most = value;
      best = weights;
    }
    const double rate = 6 / std::sqrt(static_cast<double>(step));
    for (std::size_t t = 0; t < logs.size(); ++t) {
      logs[t] += rate * std::clamp(((*least)[t] - value) / scale, -1.0, 1.0);
    }
  }
  return best;
}

}  // namespace strata
