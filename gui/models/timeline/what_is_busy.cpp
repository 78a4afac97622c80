#include "gui/models/timeline/what_is_busy.h"

namespace strata::gui {

std::optional<Busy> what_is_busy(const Recording& recording, const TimeRange& range) {
  Busy busy;
  std::size_t devices = 0;
  if (range.length() <= Seconds{0}) return std::nullopt;
  for (const Lane& lane : recording.lanes) {
    if (lane.name().kind != LaneKind::device) continue;
    const double share = lane.filled(range.begin.value, range.end.value) / range.length().value;
    ++devices;
    busy.mean += share;
    if (devices > 1 && share <= busy.most) continue;
    busy.most = share;
    busy.busiest = lane.name().group;
  }
  if (devices == 0) return std::nullopt;
  busy.mean /= static_cast<double>(devices);
  return busy;
}

}  // namespace strata::gui
