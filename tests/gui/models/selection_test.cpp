// The one selection: it speaks up when it changes, and only then.

#include "gui/models/selection.h"

#include <QSignalSpy>

#include <gmock/gmock.h>

namespace strata::gui {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Selection, KeepsLayersSortedAndOnce) {
  Selection selection;
  selection.select_layers({LayerId(4), LayerId(1), LayerId(4)});
  EXPECT_THAT(selection.layers(), ElementsAre(LayerId(1), LayerId(4)));
  EXPECT_TRUE(selection.has_layer(LayerId(4)));
  EXPECT_FALSE(selection.has_layer(LayerId(2)));
}

TEST(Selection, SpeaksOnlyOfChanges) {
  Selection selection;
  const QSignalSpy layers(&selection, &Selection::layers_changed);
  const QSignalSpy range(&selection, &Selection::range_changed);
  selection.select_layers({LayerId(1), LayerId(2)});
  selection.select_layers({LayerId(2), LayerId(1)});
  selection.select_range(TimeRange{Seconds{1}, Seconds{3}});
  selection.select_range(TimeRange{Seconds{1}, Seconds{3}});
  EXPECT_EQ(layers.count(), 1);
  EXPECT_EQ(range.count(), 1);
}

TEST(Selection, ClearsEverything) {
  Selection selection;
  selection.select_layers({LayerId(1)});
  selection.select_device(DeviceId(0));
  selection.select_link(LinkId(0));
  selection.select_task(PickedTask{1, TaskId(2)});
  selection.select_range(TimeRange{Seconds{1}, Seconds{3}});
  selection.clear();
  EXPECT_THAT(selection.layers(), IsEmpty());
  EXPECT_FALSE(selection.device() || selection.link() || selection.task() || selection.range());
}

}  // namespace
}  // namespace strata::gui
