#include "sim/train/differences.h"

#include <algorithm>
#include <cmath>

namespace strata {
namespace {

/// `least`: the least length that the distance is divided by.
template <class T>
double difference(std::span<const T> a, std::span<const T> b, double least = 0) {
  double distance = 0, length_a = 0, length_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    distance += (x - y) * (x - y);
    length_a += x * x;
    length_b += y * y;
  }
  return distance == 0 ? 0 : std::sqrt(distance / std::max({length_a, length_b, least * least}));
}

// Root mean squares; 0 where there is nothing, or no number.
double largest_mean(const std::vector<std::vector<float>>& tensors) {
  double largest = 0;
  for (const std::vector<float>& values : tensors) {
    double squares = 0;
    for (const float value : values) squares += static_cast<double>(value) * value;
    const double mean = squares / std::max(1.0, static_cast<double>(values.size()));
    if (std::isfinite(mean)) largest = std::max(largest, mean);
  }
  return std::sqrt(largest);
}

// `least_mean`: the least root mean square that a tensor's elements count as.
LargestDifference largest_of(const Graph& graph, const std::vector<std::vector<float>>& a,
                             const std::vector<std::vector<float>>& b, double least_mean) {
  LargestDifference largest;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const double least = least_mean * std::sqrt(static_cast<double>(a[i].size()));
    const double value =
        difference(std::span<const float>(a[i]), std::span<const float>(b[i]), least);
    if (value <= largest.value) continue;  // what is no number is taken
    largest = {value, graph[LayerId(i)].name};
    if (std::isnan(value)) break;
  }
  return largest;
}

}  // namespace

double relative_difference(std::span<const float> a, std::span<const float> b) {
  return difference(a, b);
}

double relative_difference(std::span<const double> a, std::span<const double> b) {
  return difference(a, b);
}

LargestDifference largest_difference(const Graph& graph, const std::vector<std::vector<float>>& a,
                                     const std::vector<std::vector<float>>& b) {
  return largest_of(graph, a, b, 0);
}

LargestDifference largest_gradient_difference(const Graph& graph,
                                              const std::vector<std::vector<float>>& a,
                                              const std::vector<std::vector<float>>& b) {
  return largest_of(graph, a, b, kLeastGradient * std::max(largest_mean(a), largest_mean(b)));
}

}  // namespace strata
