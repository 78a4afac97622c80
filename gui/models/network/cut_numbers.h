#pragma once

// A number for each cut, by which it is coloured. It follows from the cut alone unless another cut
// has it already, and what a cut has it keeps, whatever else is edited, solved or undone: unless it
// is shown again with one that took its number since. Value.

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "sim/strategy/strategy.h"

namespace strata::gui {

class CutNumbers {
 public:
  /// So many are told apart by colours: as long as that does, no two cuts have the same.
  static constexpr std::size_t kColours = 10;

  void forget() { known_.clear(); }
  /// Numbers those of them that have none, the fewest parts first; and where there are colours
  /// enough, those that have the same as another of them.
  void number(std::vector<Config> shown) {
    std::stable_sort(shown.begin(), shown.end(), before);
    for (const Config& cut : shown) {
      const auto known = find(cut);
      if (known != known_.end()) {
        if (shown.size() > kColours || !taken(known->second, cut, &shown)) continue;
        known_.erase(known);
      }
      known_.emplace_back(cut, next(cut, shown));
    }
  }
  /// Of a cut that was numbered.
  std::size_t operator()(const Config& cut) const {
    const auto at = find(cut);
    return at == known_.end() ? 0 : at->second;
  }

 private:
  using Known = std::vector<std::pair<Config, std::size_t>>;

  static bool before(const Config& a, const Config& b) {
    if (product(a.degrees) != product(b.degrees)) return product(a.degrees) < product(b.degrees);
    return a.degrees > b.degrees;
  }
  Known::const_iterator find(const Config& cut) const {
    return std::find_if(known_.begin(), known_.end(),
                        [&](const auto& known) { return known.first == cut; });
  }
  // Cuts of one dim differ, and so do most of those of two.
  static std::size_t wanted(const Config& cut) {
    std::size_t number = 0, step = 1;
    for (const Dim dim : kDims) {
      number += step * static_cast<std::size_t>(std::lround(std::log2(cut.degrees[dim])));
      step += 2;
    }
    number += step * static_cast<std::size_t>(std::lround(std::log2(cut.degrees.r)));
    return number % kColours;
  }
  // By another cut; of those in `among`, where it is not null.
  bool taken(std::size_t number, const Config& cut, const std::vector<Config>* among) const {
    return std::any_of(known_.begin(), known_.end(), [&](const auto& known) {
      if (known.second != number || known.first == cut) return false;
      return among == nullptr ||
             std::find(among->begin(), among->end(), known.first) != among->end();
    });
  }
  // The wanted one or the next that no cut has; then, that nothing shown has.
  std::size_t next(const Config& cut, const std::vector<Config>& shown) const {
    const std::size_t first = wanted(cut);
    for (const auto* among : {static_cast<const std::vector<Config>*>(nullptr), &shown}) {
      for (std::size_t i = 0; i < kColours; ++i) {
        const std::size_t number = (first + i) % kColours;
        if (!taken(number, cut, among)) return number;
      }
    }
    return first;
  }

  Known known_;
};

}  // namespace strata::gui
