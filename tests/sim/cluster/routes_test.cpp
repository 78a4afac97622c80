#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <random>
#include <thread>
#include <tuple>

#include <gtest/gtest.h>

#include "sim/cluster/builder.h"
#include "tests/sim/cluster/drawing.h"
#include "tests/sim/text/said.h"

namespace strata {
namespace {

constexpr BytesPerSecond kGigabyte{1e9};

ClusterBuilder with_devices(int count) {
  ClusterBuilder builder("c");
  for (int i = 0; i < count; ++i) builder.add_device({.name = "d" + std::to_string(i)});
  return builder;
}

// d0 -> d3: two links through d1 or d2, and three through a chain of faster switches.
TEST(Routes, FewestLinksThenLatencyThenNames) {
  const auto build = [](double by_d1, double by_d2) {
    ClusterBuilder builder = with_devices(4);
    for (const char* name : {"x", "y"}) builder.add_switch(name);
    builder.add_link({"d0", "x", kGigabyte, {0}, "", ""});
    builder.add_link({"x", "y", kGigabyte, {0}, "", ""});
    builder.add_link({"y", "d3", kGigabyte, {0}, "", ""});
    builder.add_link({"d0", "d2", kGigabyte, {by_d2}, "", ""});
    builder.add_link({"d2", "d3", kGigabyte, {0.5}, "", ""});
    builder.add_link({"d0", "d1", kGigabyte, {by_d1}, "", ""});
    builder.add_link({"d1", "d3", kGigabyte, {0.5}, "", ""});
    return std::move(builder).build();
  };
  EXPECT_EQ(route_names(build(1, 1), 0, 3), "d0>d1 d1>d3");
  EXPECT_EQ(route_names(build(1, 0.5), 0, 3), "d0>d2 d2>d3");
  EXPECT_EQ(route_names(build(0.5, 1), 0, 3), "d0>d1 d1>d3");
}

// 0.1 + 0.2 s and 0.3 s differ as doubles; as latencies they tie, and the names decide.
TEST(Routes, LatenciesAddUpExactly) {
  ClusterBuilder builder = with_devices(2);
  for (const char* name : {"x", "y"}) builder.add_switch(name);
  builder.add_link({"d0", "x", kGigabyte, {0.1}, "", ""});
  builder.add_link({"x", "d1", kGigabyte, {0.2}, "", ""});
  builder.add_link({"d0", "y", kGigabyte, {0.3}, "", ""});
  builder.add_link({"y", "d1", kGigabyte, {0}, "", ""});
  EXPECT_EQ(route_names(std::move(builder).build(), 0, 1), "d0>x x>d1");
}

// In the alphabet d10 comes before d9.
TEST(Routes, NumbersInNamesGoByValue) {
  ClusterBuilder builder = with_devices(12);
  for (const char* by : {"d10", "d9"}) {
    builder.add_duplex("d0", by, kGigabyte, {});
    builder.add_duplex(by, "d1", kGigabyte, {});
  }
  EXPECT_EQ(route_names(std::move(builder).build(), 0, 1), "d0>d9 d9>d1");
}

TEST(Routes, AFixedRouteGoesFirst) {
  ClusterBuilder builder = with_devices(3);
  builder.add_duplex("d0", "d1", kGigabyte, {});
  builder.add_duplex("d1", "d2", kGigabyte, {});
  builder.add_duplex("d2", "d0", kGigabyte, {});
  builder.add_route("d0", "d2", {"d0>d1", "d1>d2"});
  const Cluster cluster = std::move(builder).build();
  EXPECT_EQ(route_names(cluster, 0, 2), "d0>d1 d1>d2");
  EXPECT_EQ(route_names(cluster, 2, 0), "d2>d0");
}

// The way through d1 is the shorter one, but d1 is a GPU, which takes and gives and passes nothing.
TEST(Routes, LeadThroughNoDeviceThatDoesNotForward) {
  ClusterBuilder builder = with_devices(1);
  builder.add_device({.name = "d1", .forwards = false});
  builder.add_device({.name = "d2", .forwards = false});
  for (const char* name : {"x", "y"}) builder.add_switch(name);
  builder.add_duplex("d0", "d1", kGigabyte, {});
  builder.add_duplex("d1", "d2", kGigabyte, {});
  builder.add_duplex("d0", "x", kGigabyte, {});
  builder.add_duplex("x", "y", kGigabyte, {});
  builder.add_duplex("y", "d2", kGigabyte, {});
  const Cluster cluster = std::move(builder).build();
  EXPECT_EQ(route_names(cluster, 0, 2), "d0>x x>y y>d2");
  EXPECT_EQ(route_names(cluster, 2, 0), "d2>y y>x x>d0");
  EXPECT_EQ(route_names(cluster, 1, 2), "d1>d2");
  EXPECT_EQ(route_names(cluster, 1, 0), "d1>d0");
}

/// The name with every number padded by zeros: in the alphabet these stand as their values do.
std::string by_value(const std::string& name) {
  std::string padded;
  for (std::size_t i = 0; i < name.size();) {
    std::size_t digits = 0;
    while (i + digits < name.size() && std::isdigit(name[i + digits])) ++digits;
    if (digits > 0) padded += std::string(20 - digits, '0') + name.substr(i, digits);
    if (digits == 0) padded += name[i];
    i += std::max<std::size_t>(digits, 1);
  }
  return padded;
}

/// The best of all walks of each length, extended link by link: no layers, no ranks. Links go by
/// their names, numbers by value.
using Names = std::vector<std::pair<std::string, std::string>>;
using Way = std::tuple<std::size_t, std::int64_t, Names>;

std::map<std::uint32_t, Way> all_best_ways(const Cluster& cluster, std::uint32_t from) {
  std::map<std::uint32_t, Way> best = {{from, Way{}}};
  for (bool changed = true; changed;) {  // Bellman and Ford's, on whole paths
    changed = false;
    for (const Link& link : cluster.links()) {
      const auto start = best.find(link.from);
      if (start == best.end()) continue;
      const bool device = link.from < cluster.device_count();
      if (device && link.from != from && !cluster.devices()[link.from].forwards) continue;
      Way way = start->second;
      std::get<0>(way) += 1;
      std::get<1>(way) += std::llround(link.latency.value * 1e12);
      std::get<2>(way).push_back({by_value(link.name), link.name});
      const auto [place, added] = best.emplace(link.to, way);
      if (!added && way < place->second)
        place->second = way;
      else if (!added)
        continue;
      changed = true;
    }
  }
  return best;
}

Cluster random_cluster(std::mt19937& random) {
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const int devices = 1 + pick(6), switches = pick(5), links = pick(30);
  ClusterBuilder builder("c");
  for (int i = 0; i < devices; ++i) {
    builder.add_device({.name = "d" + std::to_string(i), .forwards = pick(2) == 0});
  }
  for (int i = 0; i < switches; ++i) builder.add_switch("s" + std::to_string(i));
  const auto vertex = [&](int v) {
    return v < devices ? "d" + std::to_string(v) : "s" + std::to_string(v - devices);
  };
  for (int i = 0; i < links; ++i) {
    const int a = pick(devices + switches), b = pick(devices + switches);
    if (a == b) continue;
    const std::string name = std::string(1, static_cast<char>('a' + pick(26))) + std::to_string(i);
    builder.add_link({vertex(a), vertex(b), kGigabyte, {pick(3) * 1e-6}, name, ""});
  }
  return std::move(builder).build();
}

TEST(Routes, EqualThoseOfTheReferee) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const Cluster cluster = random_cluster(random);
    for (std::uint32_t from = 0; from < cluster.device_count(); ++from) {
      const auto best = all_best_ways(cluster, from);
      for (std::uint32_t to = 0; to < cluster.device_count(); ++to) {
        std::string names;
        const auto found = best.find(to);
        if (found == best.end()) {
          EXPECT_NE(said([&] { cluster.route(DeviceId(from), DeviceId(to)); }), "");
          continue;
        }
        for (const auto& [key, name] : std::get<2>(found->second)) {
          names += (names.empty() ? "" : " ") + name;
        }
        EXPECT_EQ(route_names(cluster, from, to), names) << from << " to " << to;
      }
    }
  }
}

TEST(Routes, MayBeAskedForFromManyThreads) {
  ClusterBuilder builder = with_devices(64);
  builder.add_switch("s");
  for (int i = 0; i < 64; ++i) builder.add_duplex("d" + std::to_string(i), "s", kGigabyte, {});
  const Cluster cluster = std::move(builder).build();
  std::vector<std::size_t> links(4, 0);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < links.size(); ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 64 * 64; ++i) {
        links[t] += cluster.route(DeviceId(i / 64), DeviceId(i % 64)).size();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(links, std::vector<std::size_t>(4, 2 * 64 * 63));
}

}  // namespace
}  // namespace strata
