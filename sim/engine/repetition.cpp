#include "sim/engine/repetition.h"

#include <algorithm>

namespace strata {
namespace {

std::size_t count_until(const std::vector<Tick>& times, Tick last) {
  const auto end = std::upper_bound(times.begin(), times.end(), last);
  return static_cast<std::size_t>(end - times.begin());
}

}  // namespace

Repetition::Repetition(const SimulateOptions& options)
    : period_(options.period), settles_(options.settles), left_(options.period) {
  begun_.reserve(period_);
  ended_.reserve(period_);
}

void Repetition::begin(std::uint32_t activity, const ActivityTimes& times) {
  if (period_ == 0) return;
  const Tick now = times.start[activity];
  if (activity < period_) return begun_.push_back(now);
  if (activity >= 2 * period_) {
    began_third_ = true;
    return;
  }
  const Tick before = times.start[activity - period_];
  first_begin_ = std::min(first_begin_, now);
  latest_begun_ = std::max(latest_begun_, before);
  ++begins_;
  if (now - before != end_) return differ(now, before);
  alike_ += counts_as_alike(activity, times);
}

void Repetition::end(std::uint32_t activity, const ActivityTimes& times) {
  if (period_ == 0 || activity >= 2 * period_) return;
  const Tick now = times.end[activity];
  if (activity < period_) {
    ended_.push_back(now);
    if (--left_ == 0) end_ = now;
    return;
  }
  const Tick before = times.end[activity - period_];
  latest_ended_ = std::max(latest_ended_, before);
  ++ends_;
  alike_ -= counts_as_alike(activity, times);
  if (now - before != end_) differ(now, before);
}

// An activity counts only if it began after the last difference, in both periods: before that, its
// twin in the first period may have shared links or a device with something that the second period
// did at another time.
bool Repetition::counts_as_alike(std::uint32_t activity, const ActivityTimes& times) const {
  const Tick start = times.start[activity], before = times.start[activity - period_];
  return start - before == end_ && start > differed_ && before > differed_in_first_;
}

void Repetition::differ(Tick now, Tick before) {
  differed_ = now;
  differed_in_first_ = std::max(differed_in_first_, before);
  alike_ = 0;
}

bool Repetition::holds(Tick now) const {
  if (period_ == 0 || left_ > 0 || began_third_) return false;
  if (begins_ - ends_ != alike_ || (differed_ >= 0 && !settles_)) return false;
  const Tick before = now - end_;
  return first_begin_ > before && latest_begun_ <= before && latest_ended_ <= before &&
         count_until(begun_, before) == begins_ && count_until(ended_, before) == ends_;
}

}  // namespace strata
