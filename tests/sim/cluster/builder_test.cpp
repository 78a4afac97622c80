#include "sim/cluster/builder.h"

#include <limits>

#include <gtest/gtest.h>

#include "sim/cluster/what_if.h"
#include "tests/sim/cluster/drawing.h"
#include "tests/sim/text/said.h"

namespace strata {
namespace {

constexpr BytesPerSecond kFast{10e9};
constexpr Seconds kShort{1e-6};

ClusterBuilder two_devices() {
  ClusterBuilder builder("two");
  builder.add_device({.name = "a", .kind = "p100", .host = "h"});
  builder.add_device({.name = "b"});
  return builder;
}

TEST(ClusterBuilder, MakesACluster) {
  ClusterBuilder builder = two_devices();
  builder.add_switch("s");
  builder.add_duplex("a", "s", kFast, kShort);
  builder.add_link({"s", "b", kFast, {}, "down", "inter"});
  const Cluster cluster = std::move(builder).build();
  EXPECT_EQ(cluster.name(), "two");
  EXPECT_EQ(cluster.device_count(), 2U);
  EXPECT_EQ(cluster.vertex_name(2), "s");
  EXPECT_EQ(link_lines(cluster),
            "a>s: a -> s, 10 GB/s, 1 us, \n"
            "s>a: s -> a, 10 GB/s, 1 us, \n"
            "down: s -> b, 10 GB/s, 0 us, inter\n");
  EXPECT_EQ(cluster.find_device("b"), DeviceId(1));
  EXPECT_EQ(cluster.find_link("down"), LinkId(2));
  EXPECT_FALSE(cluster.find_device("s").valid());
  EXPECT_FALSE(cluster.find_link("up").valid());
  EXPECT_EQ(route_names(cluster, 0, 1), "a>s down");
  EXPECT_EQ(cluster.latency(DeviceId(0), DeviceId(1)).value, 1e-6);
  EXPECT_TRUE(cluster.route(DeviceId(0), DeviceId(0)).empty());
}

TEST(ClusterBuilder, OnlyWhoAsksForARouteNeedsOne) {
  ClusterBuilder builder = two_devices();
  builder.add_link({"a", "b", kFast, kShort, "", ""});
  const Cluster cluster = std::move(builder).build();
  EXPECT_EQ(route_names(cluster, 0, 1), "a>b");
  EXPECT_EQ(said([&] { cluster.route(DeviceId(1), DeviceId(0)); }),
            "cluster two: no links lead from b to a");
  ClusterBuilder copy = two_devices();
  copy.read_from("two.toml");
  const Cluster of_file = std::move(copy).build();
  for (const Cluster& it : {of_file, with_device_speed(of_file, "a", 0.5)}) {
    EXPECT_EQ(said([&] { it.route(DeviceId(1), DeviceId(0)); }),
              "two.toml: no links lead from b to a");
  }
}

TEST(ClusterBuilder, NamesParallelLinksApart) {
  ClusterBuilder builder = two_devices();
  builder.add_link({"a", "b", kFast, kShort, "a>b#2", ""});
  builder.add_duplex({"a", "b", kFast, kShort, "cable", ""});
  for (int i = 0; i < 3; ++i) builder.add_link({"a", "b", kFast, kShort, "", ""});
  const Cluster cluster = std::move(builder).build();
  std::string names;
  for (const Link& link : cluster.links()) names += link.name + " ";
  EXPECT_EQ(names, "a>b#2 cable cable.back a>b a>b#3 a>b#4 ");
}

TEST(ClusterBuilder, SaysAllThatIsWrong) {
  ClusterBuilder builder = two_devices();
  builder.at({"c.toml", 7});
  builder.add_device({.name = "a", .speed = 0});
  builder.add_switch("b");
  builder.add_switch("");
  builder.at({"c.toml", 9});
  builder.add_link({"a", "nowhere", {-1}, {-1}, "l", ""});
  builder.add_link({"b", "b", {1}, {101}, "l", ""});
  builder.add_link({"a", "b", {std::numeric_limits<double>::infinity()}, {}, "", ""});
  EXPECT_EQ(
      said([&] { std::move(builder).build(); }),
      "c.toml:7: 'a' names more than one device or switch\n"
      "c.toml:7: device 'a': speed must be from 1e-09 to 1e+09; it is 0\n"
      "c.toml:7: 'b' names more than one device or switch\n"
      "c.toml:7: a switch needs a name\n"
      "c.toml:9: the link from 'a' to 'nowhere': bandwidth must be from 1e-09 to 1e+18 B/s; it is "
      "-1 B/s\n"
      "c.toml:9: the link from 'a' to 'nowhere': latency must be from 0 to 100 s; it is -1 s\n"
      "c.toml:9: no device or switch is named 'nowhere'\n"
      "c.toml:9: the link from 'b' to 'b' leads back to where it starts\n"
      "c.toml:9: the link from 'b' to 'b': latency must be from 0 to 100 s; it is 101 s\n"
      "c.toml:9: 'l' names more than one link\n"
      "and 1 more");
}

TEST(ClusterBuilder, NeedsADeviceAndTakesNotTooMany) {
  EXPECT_EQ(said([] { ClusterBuilder("none").build(); }),
            "cluster none: a cluster needs at least one device");
  ClusterBuilder builder("many");
  for (std::size_t i = 0; i <= kDeviceLimit; ++i) builder.add_device({.name = std::to_string(i)});
  EXPECT_EQ(said([&] { std::move(builder).build(); }),
            "cluster many: a cluster has at most 16384 devices");
}

std::string route_error(std::string from, std::string to, std::vector<std::string> links) {
  ClusterBuilder builder = two_devices();
  builder.add_switch("s");
  builder.add_duplex({"a", "s", kFast, kShort, "up", ""});
  builder.add_duplex({"b", "s", kFast, kShort, "bup", ""});
  builder.at({"c.toml", 5});
  builder.add_route(std::move(from), std::move(to), std::move(links));
  return said([&] { std::move(builder).build(); });
}

TEST(ClusterBuilder, ChecksThatARouteIsAPath) {
  EXPECT_EQ(route_error("a", "b", {"up", "bup.back"}), "");
  EXPECT_EQ(route_error("a", "s", {"down"}),
            "c.toml:5: no device is named 's'\nc.toml:5: no link is named 'down'");
  EXPECT_EQ(route_error("a", "b", {"bup.back"}),
            "c.toml:5: link 'bup.back' starts at 's', but the route is at 'a'");
  EXPECT_EQ(route_error("a", "b", {"up"}), "c.toml:5: the route to 'b' ends at 's'");
  EXPECT_EQ(route_error("a", "b", {}), "c.toml:5: the route to 'b' ends at 'a'");
  EXPECT_EQ(route_error("a", "a", {"up", "up.back"}),
            "c.toml:5: the route from 'a' leads to itself");
}

TEST(ClusterBuilder, RefusesTwoRoutesForAPair) {
  ClusterBuilder builder = two_devices();
  builder.add_duplex("a", "b", kFast, kShort);
  builder.add_route("a", "b", {"a>b"});
  builder.add_route("a", "b", {"a>b"});
  EXPECT_EQ(said([&] { std::move(builder).build(); }),
            "cluster two: there are two routes from 'a' to 'b'");
}

}  // namespace
}  // namespace strata
