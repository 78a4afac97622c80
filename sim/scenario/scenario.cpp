#include "sim/scenario/scenario.h"

#include <array>
#include <numeric>

namespace strata {

std::string_view name(Job job) {
  constexpr std::array<std::string_view, 3> kNames = {"predict", "solve", "run"};
  return kNames[static_cast<std::size_t>(job)];
}

Location Axis::location(std::size_t place, std::size_t key) const {
  return {where.file, lines[place * keys.size() + key]};
}

std::size_t Sweep::count() const {
  return std::accumulate(
      axes.begin(), axes.end(), std::size_t{1},
      [](std::size_t cases, const Axis& axis) { return cases * axis.values.size(); });
}

// A case's number has its places on the axes as digits, the last axis lowest.
std::vector<Setting> Sweep::at(std::size_t i) const {
  std::vector<std::size_t> places(axes.size());
  for (std::size_t axis = axes.size(); axis-- > 0;) {
    const std::size_t size = axes[axis].values.size();
    places[axis] = i % size;
    i /= size;
  }
  std::vector<Setting> settings;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const std::vector<std::string>& values = axes[a].values[places[a]];
    for (std::size_t k = 0; k < values.size(); ++k)
      settings.push_back({axes[a].keys[k], values[k]});
  }
  return settings;
}

std::size_t Scenario::count() const {
  return std::accumulate(
      sweeps.begin(), sweeps.end(), std::size_t{0},
      [](std::size_t cases, const Sweep& sweep) { return cases + sweep.count(); });
}

}  // namespace strata
