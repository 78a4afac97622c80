// What keys and mouse do to the memory's picture.

#include <algorithm>
#include <cmath>

#include "gui/widgets/memory/memory_canvas.h"

namespace strata::gui {

QString MemoryCanvas::tip_at(QPoint at) const {
  const auto moment = moment_at(at);
  return moment ? text_at(*moment) : TimeCanvas::tip_at(at);
}

// Close to a peak the peak is meant.
void MemoryCanvas::click(QPoint at) {
  const auto moment = moment_at(at);
  if (!moment) return;
  constexpr int kNear = 5;
  const Moment peak = peak_of(moment->device);
  pick(std::abs(x_of(peak.at) - at.x()) <= kNear ? peak : *moment);
}

bool MemoryCanvas::take_own_key(int key, Qt::KeyboardModifiers /*modifiers*/) {
  const auto [device, at] = asked();
  const auto last = static_cast<int>(picture_->stacks.size()) - 1;
  const auto other = [last, of = static_cast<int>(device())](int by) {
    return DeviceId(static_cast<std::size_t>(std::clamp(of + by, 0, last)));
  };
  switch (key) {
    case Qt::Key_C:
      set_scale(scale() == MemoryScale::peak ? MemoryScale::capacity : MemoryScale::peak);
      return true;
    case Qt::Key_P:
      return pick(peak_of(device)), true;
    case Qt::Key_Up:
      return pick({other(-1), at}), true;
    case Qt::Key_Down:
      return pick({other(1), at}), true;
    case Qt::Key_Period:
      return step_by(1), true;
    case Qt::Key_Comma:
      return step_by(-1), true;
    default:
      return false;
  }
}

}  // namespace strata::gui
