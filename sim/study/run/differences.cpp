#include "sim/study/run/differences.h"

#include <algorithm>
#include <cmath>

namespace strata {
namespace {

template <class T>
double difference(std::span<const T> a, std::span<const T> b) {
  double distance = 0, length_a = 0, length_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    distance += (x - y) * (x - y);
    length_a += x * x;
    length_b += y * y;
  }
  return distance == 0 ? 0 : std::sqrt(distance / std::max(length_a, length_b));
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
  LargestDifference largest;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const double value = relative_difference(std::span<const float>(a[i]), b[i]);
    if (value <= largest.value) continue;  // what is no number is taken
    largest = {value, graph[LayerId(i)].name};
    if (std::isnan(value)) break;
  }
  return largest;
}

}  // namespace strata
