#include "sim/simulate/jitter.h"

#include <cmath>

#include "sim/base/counter_random.h"

namespace strata {
namespace {

constexpr double kQuartile = 0.6744897501960817;  // of the normal distribution, in deviations

}  // namespace

std::vector<Cost> drawn_costs(std::span<const Cost> costs, std::size_t steps, std::uint64_t seed) {
  const CounterRandom random(seed, "jitter");
  std::vector<Cost> drawn;
  drawn.reserve(steps * costs.size());
  for (std::size_t step = 0; step < steps; ++step) {
    for (const Cost& cost : costs) {
      // asinh: exp(d) - exp(-d) is twice the spread where d is the quartiles' distance.
      const double deviation = std::asinh(cost.spread) / kQuartile;
      drawn.push_back(cost);
      if (deviation > 0)
        drawn.back().seconds.value *= std::exp(deviation * random.normal(drawn.size()));
    }
  }
  return drawn;
}

}  // namespace strata
