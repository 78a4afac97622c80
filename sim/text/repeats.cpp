#include "sim/text/repeats.h"

#include <map>
#include <utility>

namespace strata {
namespace {

// So many of the next places with the same key are tried as the block's length.
constexpr std::size_t kMostTried = 64;

std::size_t times_at(std::span<const std::size_t> keys, std::size_t first, std::size_t length) {
  std::size_t at = first;
  while (at + length < keys.size() && keys[at] == keys[at + length]) ++at;
  return 1 + (at - first) / length;
}

}  // namespace

std::vector<Repeat> find_repeats(std::span<const std::size_t> keys, std::size_t least_times) {
  // By place: the next one with the same key.
  std::vector<std::size_t> next(keys.size(), keys.size());
  std::map<std::size_t, std::size_t> last;
  for (std::size_t i = keys.size(); i-- > 0;) {
    const auto [at, fresh] = last.try_emplace(keys[i], i);
    if (!fresh) next[i] = std::exchange(at->second, i);
  }
  std::vector<Repeat> repeats;
  for (std::size_t i = 0; i < keys.size();) {
    Repeat best{i, 1, 1};
    std::size_t tried = 0;
    for (std::size_t j = next[i]; j < keys.size() && tried < kMostTried; j = next[j], ++tried) {
      const std::size_t times = times_at(keys, i, j - i);
      const bool longer = times * (j - i) > best.length * best.times;
      if (times >= least_times && longer) best = {i, j - i, times};
    }
    if (best.times > 1) repeats.push_back(best);
    i = best.times > 1 ? best.end() : i + 1;
  }
  return repeats;
}

}  // namespace strata
