#include "exec/cpu/combine.h"

#include <algorithm>
#include <cmath>

namespace strata::cpu {
namespace {

using Parts = std::span<const float* const>;

/// As many floats as stay in the first cache with those of all parts.
constexpr std::int64_t kChunk = 1024;

void sum_chunk(float* to, Parts parts, std::int64_t begin, std::int64_t count) {
  float sums[kChunk];
  const float *first = parts[0] + begin, *second = parts[1] + begin;
  for (std::int64_t i = 0; i < count; ++i) sums[i] = first[i] + second[i];
  for (const float* part : parts.subspan(2)) {
    for (std::int64_t i = 0; i < count; ++i) sums[i] += part[begin + i];
  }
  std::copy_n(sums, count, to + begin);
}

void sum(float* to, Parts parts, std::int64_t begin, std::int64_t end) {
  if (parts.size() == 1) {
    if (to != parts[0]) std::copy_n(parts[0] + begin, end - begin, to + begin);
    return;
  }
  for (; begin < end; begin += kChunk) sum_chunk(to, parts, begin, std::min(kChunk, end - begin));
}

/// Chan, Golub and LeVeque (1979), equations 2.1: with d the difference of the means, the joint
/// mean is a.mean + d b.n / n, and M2 = a.M2 + b.M2 + d^2 a.n b.n / n.
struct Moments {
  double count = 0, mean = 0, distances = 0;

  void join(double other_count, double other_mean, double other_distances) {
    if (other_count == 0) return;
    const double all = count + other_count, difference = other_mean - mean;
    mean += difference * other_count / all;
    distances += other_distances + difference * difference * count * other_count / all;
    count = all;
  }
};

void join_moments(float* to, Parts parts, std::span<const std::int64_t> counts, std::int64_t at) {
  Moments all;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    all.join(static_cast<double>(counts[k]), parts[k][at], parts[k][at + 1]);
  }
  to[at] = static_cast<float>(all.mean);
  to[at + 1] = static_cast<float>(all.distances);
}

void join_exponentials(float* to, Parts parts, std::int64_t at) {
  float most = parts[0][at];
  for (const float* part : parts) most = std::max(most, part[at]);
  double sum = 0;
  for (const float* part : parts) {
    // exp(-inf - -inf) is not a number, but 1 here.
    const double weight = part[at] == most ? 1 : std::exp(static_cast<double>(part[at]) - most);
    sum += part[at + 1] * weight;
  }
  to[at] = most;
  to[at + 1] = static_cast<float>(sum);
}

}  // namespace

void combine(Combination how, float* to, Parts parts, std::span<const std::int64_t> counts,
             std::int64_t begin, std::int64_t end) {
  if (how == Combination::sum) return sum(to, parts, begin, end);
  for (std::int64_t at = begin; at < end; at += 2) {
    if (how == Combination::moments) {
      join_moments(to, parts, counts, at);
    } else {
      join_exponentials(to, parts, at);
    }
  }
}

}  // namespace strata::cpu
