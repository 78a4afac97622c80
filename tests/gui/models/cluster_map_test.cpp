// The cluster as a drawing, and what its links carry when.

#include "gui/models/cluster/cluster_map.h"

#include <QAbstractItemModelTester>
#include <QItemSelectionModel>
#include <algorithm>
#include <map>
#include <numeric>

#include <gmock/gmock.h>

#include "gui/models/cluster/cluster_layout.h"
#include "gui/models/cluster/link_history.h"
#include "gui/models/cluster/link_transfers.h"
#include "sim/cluster/presets.h"
#include "tests/gui/models/cases.h"

namespace strata::gui {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

std::size_t count(const ClusterMap& map, MapNodeKind kind) {
  return static_cast<std::size_t>(std::count_if(
      map.nodes.begin(), map.nodes.end(), [&](const MapNode& node) { return node.kind == kind; }));
}

bool apart(const ClusterMap& map) {
  for (std::size_t a = 0; a < map.nodes.size(); ++a) {
    for (std::size_t b = a + 1; b < map.nodes.size(); ++b) {
      if (map.nodes[a].box.intersects(map.nodes[b].box)) return false;
    }
  }
  return true;
}

// A NIC is two switches, one for each direction. The devices of a p100 host are joined with each
// other: 6 cables, 4 more to the NIC, and one from there to the core.
TEST(ClusterMap, DrawsBothDirectionsAsOne) {
  const ClusterMap map = map_of(load_cluster("p100-2x4"), false);
  EXPECT_EQ(count(map, MapNodeKind::device), 8);
  EXPECT_EQ(count(map, MapNodeKind::network), 3);
  EXPECT_THAT(map.frames, SizeIs(2));
  EXPECT_THAT(map.edges, SizeIs(22));
  for (const MapEdge& edge : map.edges) {
    EXPECT_THAT(edge.there, SizeIs(1));
    EXPECT_THAT(edge.back, SizeIs(1));
  }
  EXPECT_TRUE(apart(map));
}

// The ports of a PCIe bridge are joined to it without a limit.
TEST(ClusterMap, DrawsASwitchWithItsPortsAsOne) {
  const ClusterMap map = map_of(load_cluster("k80-2x4"), false);
  EXPECT_EQ(count(map, MapNodeKind::device), 8);
  EXPECT_EQ(count(map, MapNodeKind::network), 3);
  EXPECT_THAT(map.edges, SizeIs(10)) << "a cable for each device and each host";
}

TEST(ClusterMap, KeepsWhatBelongsToAHostInItsFrame) {
  for (const char* name :
       {"p100-4x4", "k80-4x4", "dgx1-p100-2", "h200-1x8", "p100-16x1", "cpu:8"}) {
    const ClusterMap map = map_of(load_cluster(name), false);
    EXPECT_TRUE(apart(map)) << name;
    for (const MapNode& node : map.nodes) {
      EXPECT_TRUE(map.bounds.contains(node.box)) << name;
      if (node.host) {
        EXPECT_TRUE(map.frames[*node.host].box.contains(node.box)) << name << " " << node.name;
      }
    }
  }
}

// Four hosts in a window of any usual shape: two by two, none alone in a line.
TEST(ClusterMap, StandsInBalancedGrids) {
  const auto lines = [](const ClusterMap& map, auto coordinate) {
    std::map<double, int> hosts;
    for (const MapFrame& frame : map.frames) ++hosts[coordinate(frame.box)];
    return hosts;
  };
  for (const double aspect : {0.8, 1.2, 1.6, 2.1}) {
    const ClusterMap four = map_of(load_cluster("p100-4x4"), false, aspect);
    const auto rows = lines(four, [](const QRectF& box) { return box.top(); });
    EXPECT_EQ(rows.size(), 2) << aspect;
    for (const auto& [top, hosts] : rows) EXPECT_EQ(hosts, 2) << aspect;
  }
  const ClusterMap eight = map_of(load_cluster("p100-8x4"), false, 2);
  EXPECT_EQ(lines(eight, [](const QRectF& box) { return box.top(); }).size(), 2);
  EXPECT_EQ(lines(eight, [](const QRectF& box) { return box.left(); }).size(), 4);
}

// Both get the most of a window of their shape: the map's shape is nearer to it than half or twice.
TEST(ClusterMap, TakesTheWindowsShape) {
  for (const char* name : {"p100-4x4", "p100-16x4", "k80-4x4"}) {
    const QRectF wide = map_of(load_cluster(name), false, 2).bounds;
    const QRectF high = map_of(load_cluster(name), false, 0.5).bounds;
    EXPECT_GT(wide.width() / wide.height(), 1) << name;
    EXPECT_LT(high.width() / high.height(), 1) << name;
  }
}

TEST(ClusterMap, NamesWhatAFrameHoldsWithoutTheHost) {
  const ClusterMap map = map_of(load_cluster("p100-2x2"), false);
  std::vector<std::string> names;
  for (const MapNode& node : map.nodes) names.push_back(node.short_name());
  EXPECT_THAT(names, ElementsAre("gpu0", "gpu1", "gpu2", "gpu3", "core", "nic", "nic"));
}

TEST(ClusterMap, FoldsHostsWhereThereAreMany) {
  const Cluster cluster = load_cluster("p100-128x8");
  const ClusterMap map = map_of(cluster, true);
  EXPECT_EQ(count(map, MapNodeKind::host), 128);
  EXPECT_EQ(count(map, MapNodeKind::device), 0);
  EXPECT_THAT(map.edges, SizeIs(128));
  EXPECT_TRUE(apart(map));
  const auto node = map.node_of(DeviceId(1023));
  ASSERT_TRUE(node);
  EXPECT_THAT(map.nodes[*node].devices, SizeIs(8));
  EXPECT_THAT(map.nodes[*node].inside, SizeIs(2 * 8 * 7 / 2 + 2 * 8));
}

TEST(ClusterMap, FindsWhatIsUnderAPoint) {
  const ClusterMap map = map_of(load_cluster("p100-1x2"), false);
  const QPointF a = map.nodes[map.edges[0].from].box.center();
  const QPointF b = map.nodes[map.edges[0].to].box.center();
  EXPECT_EQ(map.node_at(a), map.edges[0].from);
  EXPECT_EQ(map.edge_at((a + b) / 2, 4), 0);
  EXPECT_EQ(map.edge_at(map.bounds.topLeft(), 4), std::nullopt);
}

// 10 bytes a second from 1 s to 3 s, then 20 until 4 s: 40 bytes in all.
TEST(LinkHistory, AddsUpRatesOverAnyRange) {
  const Timeline timeline(1, {{{0}, {0}, {5}}},
                          {{LinkId(0), {1}, {10}}, {LinkId(0), {3}, {20}}, {LinkId(0), {4}, {0}}});
  const LinkHistory history(Plan(), timeline, 2);
  EXPECT_DOUBLE_EQ(history.bytes(LinkId(0), {{0}, {5}}), 40);
  EXPECT_DOUBLE_EQ(history.bytes(LinkId(0), {{0}, {1}}), 0);
  EXPECT_DOUBLE_EQ(history.bytes(LinkId(0), {{2}, {3.5}}), 20);
  EXPECT_DOUBLE_EQ(history.bytes(LinkId(1), {{0}, {5}}), 0);
}

// In the steady window each step moves the same bytes.
TEST(LinkHistory, AgreesWithTheStepsBytesInTheSteadyWindow) {
  const ScenePtr made = scene_of(document_of("lenet5", "p100-2x2", "model"));
  const Timeline& timeline = made->prediction.timeline;
  const LinkHistory history(made->prediction.plan, timeline, made->input.cluster.links().size());
  const auto [first, last] = timeline.steady_window();
  const TimeRange window{timeline.step_end(first), timeline.step_end(last)};
  const LinkUse range = link_use(*made, history, window), step = link_use(*made, history, {});
  const double steps = static_cast<double>(last - first);
  for (std::size_t i = 0; i < range.bytes.size(); ++i) {
    if (made->input.cluster[LinkId(i)].bandwidth >= kNoLimit) continue;
    EXPECT_NEAR(range.bytes[i] / steps, step.bytes[i], 0.02 * step.bytes[i] + 1);
  }
}

class LinkTransfersTest : public ::testing::Test {
 protected:
  static double sum(const std::vector<LinkTransfer>& rows) {
    return std::accumulate(rows.begin(), rows.end(), 0.0,
                           [](double all, const LinkTransfer& row) { return all + row.bytes; });
  }
};

// What the table lists of a step is what the step moves over the link.
TEST_F(LinkTransfersTest, AddUpToTheLinksBytes) {
  for (const char* strategy : {"data", "model", "owt"}) {
    const ScenePtr made = scene_of(document_of("lenet5", "p100-2x2", strategy));
    for (std::size_t i = 0; i < made->input.cluster.links().size(); ++i) {
      const auto rows = link_transfers(*made, LinkId(i), std::nullopt);
      EXPECT_NEAR(sum(rows), made->use.link_bytes[i], 1) << strategy << " link " << i;
    }
  }
}

// All links in one go have as many as each has alone.
TEST_F(LinkTransfersTest, AreCountedForAllLinksToo) {
  for (const char* strategy : {"data", "owt"}) {
    const ScenePtr made = scene_of(document_of("lenet5", "p100-2x2", strategy));
    const Seconds end = made->prediction.timeline.makespan();
    for (const auto& range : {std::optional<TimeRange>(), std::optional(TimeRange{{0}, end / 3})}) {
      const std::vector<std::size_t> all = transfers_by_link(*made, range);
      for (std::size_t i = 0; i < all.size(); ++i) {
        std::size_t alone = 0;
        for (const LinkTransfer& row : link_transfers(*made, LinkId(i), range)) alone += row.count;
        EXPECT_EQ(all[i], alone) << strategy << " link " << i;
      }
    }
  }
}

TEST_F(LinkTransfersTest, CountThePartThatIsInTheRange) {
  const ScenePtr made = scene_of(document_of("lenet5", "p100-1x2", "model"));
  const LinkId link(0);
  const Seconds end = made->prediction.timeline.makespan(), half = end / 2;
  const double first = sum(link_transfers(*made, link, TimeRange{{0}, half}));
  const double second = sum(link_transfers(*made, link, TimeRange{half, end}));
  const double steps = static_cast<double>(made->prediction.timeline.steps());
  EXPECT_GT(first, 0);
  EXPECT_NEAR(first + second, steps * made->use.link_bytes[0], 1);
}

// The one of the most bytes, which is the last row when the least are first.
TEST_F(LinkTransfersTest, ThePickedRowStaysPicked) {
  const ScenePtr made = scene_of(document_of("lenet5", "p100-1x2", "model"));
  LinkTransferTable table;
  table.show(made, link_transfers(*made, LinkId(0), std::nullopt));
  table.sort(LinkTransferTable::bytes, Qt::DescendingOrder);
  const double most = table.rows().front().bytes;
  ASSERT_LT(table.rows().back().bytes, most);
  QItemSelectionModel picked(&table);
  picked.select(table.index(0, 0), QItemSelectionModel::Select | QItemSelectionModel::Rows);
  table.sort(LinkTransferTable::bytes, Qt::AscendingOrder);
  ASSERT_EQ(picked.selectedRows().size(), 1);
  const int row = picked.selectedRows().front().row();
  EXPECT_EQ(table.rows()[static_cast<std::size_t>(row)].bytes, most);
}

TEST_F(LinkTransfersTest, AreATableThatSorts) {
  const ScenePtr made = scene_of(document_of("lenet5", "p100-1x2", "model"));
  LinkTransferTable table;
  const QAbstractItemModelTester tester(&table);
  table.show(made, link_transfers(*made, LinkId(0), std::nullopt));
  ASSERT_GT(table.rowCount(), 2);
  table.sort(LinkTransferTable::bytes, Qt::DescendingOrder);
  EXPECT_GE(table.rows()[0].bytes, table.rows()[1].bytes);
  for (const int section : {-1, int{LinkTransferTable::kColumns}}) {
    EXPECT_FALSE(table.headerData(section, Qt::Horizontal, Qt::DisplayRole).isValid());
  }
  EXPECT_EQ(table.csv().count('\n'), table.rowCount() + 1);
  table.show(nullptr, {});
  EXPECT_EQ(table.rowCount(), 0);
}

}  // namespace
}  // namespace strata::gui
