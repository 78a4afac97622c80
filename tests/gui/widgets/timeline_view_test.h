#pragma once
// A view of the timeline alone, with LeNet-5 over two P100s on the desk.

#include <QTest>
#include <algorithm>

#include <gtest/gtest.h>

#include "gui/widgets/timeline/timeline_view.h"
#include "tests/gui/models/event_loop.h"
#include "tests/gui/models/no_devices.h"

namespace strata::gui {

class TimelineViewTest : public ::testing::Test {
 protected:
  void SetUp() override {
    view_.resize(1200, 700);
    view_.show();
  }

  void open(const std::string& strategy = "owt") {
    Document document;
    document.input.model = "lenet5";
    document.input.cluster = "p100-1x2";
    document.strategy.source = strategy;
    workspace_.open(document);
    settle();
  }
  void settle() {
    ASSERT_TRUE(testing::wait_until([&] { return workspace_.jobs().idle(); }));
  }
  const Recording& shown() { return *canvas_.recording(0); }
  QPoint middle_of(SlicePlace place) { return canvas_.box_of({0, place}).center().toPoint(); }
  // A wide one of the step that is seen, that can be clicked.
  SlicePlace longest_on_device() {
    const Recording& recording = shown();
    for (std::uint32_t i = 0; i < recording.lanes.size(); ++i) {
      const Lane& lane = recording.lanes[i];
      if (lane.name().kind != LaneKind::device) continue;
      const std::size_t first = lane.beginning_at(recording.step->begin.value);
      const std::size_t last = lane.ending_after(recording.step->end.value);
      return {i, static_cast<std::uint32_t>(lane.longest(first, last))};
    }
    return {};
  }
  void key(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QTest::keyClick(&canvas_, key, modifiers);
  }
  SliceAddress close_to(std::uint32_t side, LayerId layer);
  std::size_t rows_of_side(std::uint32_t side) {
    return static_cast<std::size_t>(std::count_if(canvas_.rows().begin(), canvas_.rows().end(),
                                                  [&](LaneRow row) { return row.side == side; }));
  }

  testing::NoDevices runner_;
  Workspace workspace_{runner_};
  TimelineView view_{workspace_};
  TimelineCanvas& canvas_ = view_.canvas();
};

// Of a layer's slices one in a device's lane, closer to, so that it can be clicked.
inline SliceAddress TimelineViewTest::close_to(std::uint32_t side, LayerId layer) {
  const Recording& recording = *canvas_.recording(side);
  for (std::uint32_t i = 0; i < recording.lanes.size(); ++i) {
    const Lane& lane = recording.lanes[i];
    if (lane.name().kind != LaneKind::device) continue;
    for (std::uint32_t at = 0; at < lane.slices().size(); ++at) {
      if (recording.labels[lane.slices()[at].label].layer != layer) continue;
      const double begin = lane.slices()[at].begin + canvas_.shift(side);
      if (begin < canvas_.window().first()) continue;  // it is not drawn
      const SliceAddress slice{side, {i, at}};
      canvas_.set_range(std::nullopt);
      canvas_.select(slice, true);
      canvas_.fit();
      return slice;
    }
  }
  ADD_FAILURE() << "no slice of layer " << layer();
  return {};
}

}  // namespace strata::gui
