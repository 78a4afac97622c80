#include "exec/calibrate/last_round.h"

namespace strata {

void LastRound::begin() {
  for (auto& sums : sums_) sums.clear();
  for (auto& waits : waits_) waits.clear();
}

void LastRound::add(std::size_t device, const CostKey* key, Seconds time) {
  Sum& sum = sums_[device][key];
  sum.seconds += time.value;
  ++sum.count;
}

RoundTimes LastRound::times(std::span<const CostKey* const> keys) const {
  RoundTimes times;
  for (std::size_t d = 0; d < sums_.size(); ++d) {
    DeviceRound& round = times.emplace_back();
    round.waits = waits_[d];
    for (const CostKey* key : keys) {
      const Sum& sum = sums_[d].at(key);
      round.shards.push_back({sum.seconds / static_cast<double>(sum.count)});
    }
  }
  return times;
}

}  // namespace strata
