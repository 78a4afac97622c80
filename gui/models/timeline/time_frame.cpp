#include "gui/models/timeline/time_frame.h"

#include <algorithm>

namespace strata::gui {

double TimeFrame::shift_of(const Recording& recording) const {
  return step && recording.step ? (step->begin - recording.step->begin).value : 0;
}

TimeFrame frame_of(const Recording& first, const Recording* second) {
  TimeFrame frame{first.step, 0, first.end};
  if (second == nullptr) return frame;
  const double shift = frame.shift_of(*second);
  frame.begin = std::min(frame.begin, shift);
  frame.end = std::max(frame.end, second->end + shift);
  return frame;
}

TimeFrame frame_of_both(const Recording& first, const Recording& second) {
  TimeFrame frame = frame_of(first, &second);
  if (frame.step && second.step) {
    const Seconds longer = std::max(frame.step->length(), second.step->length());
    frame.step->end = frame.step->begin + longer;
  }
  return frame;
}

}  // namespace strata::gui
