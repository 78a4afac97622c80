#include "gui/models/timeline/recording_csv.h"

#include <iterator>

#include <fmt/format.h>

#include "gui/models/csv.h"

namespace strata::gui {

std::string print_csv(const Recording& recording, const TimeRange& range) {
  std::string text = "group,lane,name,begin_seconds,end_seconds\n";
  for (const Lane& lane : recording.lanes) {
    if (!stands_for_tasks(lane.name().kind)) continue;
    const std::string place = csv_cell(lane.name().group) + "," + csv_cell(lane.name().name);
    const std::size_t last = lane.beginning_at(range.end.value);
    for (std::size_t i = lane.ending_after(range.begin.value); i < last; ++i) {
      const Slice& slice = lane.slices()[i];
      fmt::format_to(std::back_inserter(text), "{},{},{},{}\n", place,
                     csv_cell(recording.labels[slice.label].text), slice.begin, slice.end);
    }
  }
  return text;
}

}  // namespace strata::gui
