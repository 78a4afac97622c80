// Lines in groups that fold: devices that do the same are one, and open into hosts and devices.

#include "gui/models/timeline/lane_groups.h"

#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "gui/models/timeline/plan_recording.h"
#include "tests/gui/models/cases.h"

namespace strata::gui {
namespace {

using ::testing::ElementsAre;

/// Devices by their full names, each with the time at which its compute lane's only slice ends;
/// what arrives there takes as long.
using Ends = std::vector<std::pair<std::string, double>>;

Recording recording_of(const Ends& devices) {
  Recording recording;
  recording.labels.push_back(make_label("work", "", LayerId()));
  std::uint32_t id = 0;
  for (const auto& [name, end] : devices) {
    for (const char* lane : {"compute", "arriving"}) {
      const LaneKind kind =
          std::string_view(lane) == "compute" ? LaneKind::device : LaneKind::stream;
      recording.lanes.emplace_back(LaneName{name, lane, kind},
                                   std::vector<Slice>{{0, end, 0, id++, 1, 0}});
    }
  }
  return recording;
}

void add_link(Recording& recording, const std::string& name, const std::string& beside,
              float height) {
  recording.labels.push_back(make_label(name, "", LayerId()));
  const auto label = static_cast<std::uint32_t>(recording.labels.size() - 1);
  recording.lanes.emplace_back(
      LaneName{"links", name, LaneKind::curve, {}, LinkId(std::size_t{label}), beside},
      std::vector<Slice>{{0, 1, label, SlicePlace::kNowhere, height, 0}});
}

// "▾ a x4" for a heading, else "▸ a x4: compute".
std::vector<std::string> lines_of(const Recording& recording, const RowOptions& options) {
  const LaneRows made = arrange(recording, nullptr, options);
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < made.rows.size(); ++i) {
    const RowGroup& group = made.groups[made.group_of[i]];
    std::string line(2 * group.level, ' ');
    if (!group.key.empty()) line += group.open ? "- " : "+ ";
    line += group.name;
    if (group.count > 1) line += fmt::format(" x{}", group.count);
    if (!made.rows[i].is_heading()) line += ": " + recording.lanes[made.rows[i].lane].name().name;
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string key_of(const Recording& recording, const RowOptions& options, const std::string& name) {
  for (const RowGroup& group : arrange(recording, nullptr, options).groups) {
    if (group.name == name && !group.key.empty()) return group.key;
  }
  ADD_FAILURE() << "no group " << name;
  return {};
}

const Ends kTwoHosts = {{"a/0", 1}, {"a/1", 1}, {"b/0", 1}, {"b/1", 2}};

TEST(LaneGroupsTest, DevicesThatDoTheSameAreOneGroup) {
  const Recording recording = recording_of(kTwoHosts);
  RowOptions options;
  options.folded = true;
  EXPECT_THAT(lines_of(recording, options), ElementsAre("+ a/0 x3: compute", "+ a/0 x3: arriving",
                                                        "b/1: compute", "b/1: arriving"));
}

// First the hosts, of which a closed one shows what its devices compute; then the devices.
TEST(LaneGroupsTest, AGroupOpensIntoHostsAndThoseIntoDevices) {
  const Recording recording = recording_of(kTwoHosts);
  RowOptions options;
  options.folded = true;
  options.turned.insert(key_of(recording, options, "a/0"));
  EXPECT_THAT(lines_of(recording, options),
              ElementsAre("- a/0 x3", "  + a x2: compute", "  b/0: compute", "  b/0: arriving",
                          "b/1: compute", "b/1: arriving"));
  options.turned.insert(key_of(recording, options, "a"));
  EXPECT_THAT(lines_of(recording, options),
              ElementsAre("- a/0 x3", "  - a x2", "    a/0: compute", "    a/0: arriving",
                          "    a/1: compute", "    a/1: arriving", "  b/0: compute",
                          "  b/0: arriving", "b/1: compute", "b/1: arriving"));
}

TEST(LaneGroupsTest, HostsCloseIntoWhatTheirDevicesCompute) {
  const Recording recording = recording_of(kTwoHosts);
  RowOptions options;
  EXPECT_THAT(lines_of(recording, options),
              ElementsAre("- a/0: compute", "- a/0: arriving", "a/1: compute", "a/1: arriving",
                          "- b/0: compute", "- b/0: arriving", "b/1: compute", "b/1: arriving"));
  options.turned = {key_of(recording, options, "a/0"), key_of(recording, options, "b/0")};
  EXPECT_THAT(lines_of(recording, options),
              ElementsAre("+ a x2: compute", "+ b/0: compute", "b/1: compute"));
}

// What the baseline did counts, too: it shows in the same group.
TEST(LaneGroupsTest, BothRecordingsMustBeAlike) {
  const Recording now = recording_of({{"a/0", 1}, {"a/1", 1}, {"a/2", 1}});
  const Recording before = recording_of({{"a/0", 3}, {"a/1", 3}, {"a/2", 4}});
  RowOptions options;
  options.folded = true;
  const LaneRows made = arrange(now, &before, options);
  ASSERT_EQ(made.groups.size(), 2);
  EXPECT_EQ(made.groups[0].count, 2);
  EXPECT_EQ(made.groups[1].name, "a/2");
  EXPECT_EQ(made.rows.size(), 8);
}

TEST(LaneGroupsTest, EachLaneHasOneThatIsShownForIt) {
  const Recording recording = recording_of(kTwoHosts);
  RowOptions options;
  options.folded = true;
  EXPECT_THAT(arrange(recording, nullptr, options).shown_for[0],
              ElementsAre(0, 1, 0, 1, 0, 1, 6, 7));
  options.turned.insert(key_of(recording, options, "a/0"));
  constexpr std::uint32_t kNone = SlicePlace::kNowhere;
  EXPECT_THAT(arrange(recording, nullptr, options).shown_for[0],
              ElementsAre(0, kNone, 0, kNone, 4, 5, 6, 7));
}

TEST(LaneGroupsTest, LinksStandAtTheEndOrBesideWhatTheyBelongTo) {
  Recording recording = recording_of({{"a/0", 1}, {"b/0", 2}});
  add_link(recording, "b/0>b", "b/0", 0.5F);
  add_link(recording, "a>core", "a", 0.25F);
  RowOptions options;
  EXPECT_THAT(lines_of(recording, options),
              ElementsAre("a/0: compute", "a/0: arriving", "b/0: compute", "b/0: arriving",
                          "links: b/0>b", "links: a>core"));
  options.links_beside = true;
  EXPECT_THAT(lines_of(recording, options),
              ElementsAre("a/0: compute", "a/0: arriving", "a: a>core", "b/0: compute",
                          "b/0: arriving", "b/0: b/0>b"));
  options.links = false;
  EXPECT_THAT(lines_of(recording, options),
              ElementsAre("a/0: compute", "a/0: arriving", "b/0: compute", "b/0: arriving"));
}

TEST(LaneGroupsTest, LinksThatCarryTheSameAreOneGroup) {
  Recording recording = recording_of({{"a/0", 1}});
  add_link(recording, "a>core", "a", 0.5F);
  add_link(recording, "b>core", "b", 0.5F);
  add_link(recording, "c>core", "c", 0.25F);
  RowOptions options;
  options.folded = true;
  EXPECT_THAT(lines_of(recording, options),
              ElementsAre("a/0: compute", "a/0: arriving", "+ links x2: a>core", "links: c>core"));
}

// What the simulation of all devices says of those alike is equal to the bit.
TEST(LaneGroupsTest, AThousandDevicesAreAFewLines) {
  const RecordingPtr recording = record(scene_of("vgg16", "p100-256x4", "data"));
  EXPECT_EQ(count_devices(*recording), 1024);
  RowOptions options;
  options.folded = true;
  const LaneRows made = arrange(*recording, nullptr, options);
  EXPECT_LT(made.rows.size(), 20);
  std::size_t devices = 0;
  for (const RowGroup& group : made.groups) {
    if (group.name.starts_with("host")) devices += group.count;
  }
  EXPECT_EQ(devices, 1024);
}

}  // namespace
}  // namespace strata::gui
