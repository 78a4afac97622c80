// What --set promises of the regular machines: routes never change, a path's latency is the one
// that was set, and no better link makes a path worse.

#include <algorithm>

#include <gtest/gtest.h>

#include "sim/cluster/builder.h"
#include "sim/cluster/grid.h"
#include "sim/cluster/presets.h"
#include "sim/cluster/what_if.h"
#include "tests/sim/cluster/drawing.h"

namespace strata {
namespace {

constexpr const char* kPresets[] = {"p100-1x4", "p100-4x4", "p100-3x1",  "k80-1x4",
                                    "k80-2x3",  "k80-3x1",  "dgx1-p100", "dgx1-p100-2",
                                    "h200-1x8", "h200-2x8", "h200-3x1"};
constexpr const char* kLatencies[] = {"0.01us", "0.1us", "1us", "5us", "900us", "0.01x", "2x"};
constexpr const char* kBandwidths[] = {"1 MB/s", "5 GB/s", "1 TB/s", "0.01x", "0.5x", "2x", "100x"};

/// Every topology inside with every one between; in `slow_inside` the network has less latency.
std::vector<Cluster> machines(bool slow_inside) {
  std::vector<Cluster> all;
  for (const auto intra : {IntraTopology::bus, IntraTopology::pcie, IntraTopology::all_to_all,
                           IntraTopology::ring, IntraTopology::hybrid_cube_mesh}) {
    for (const auto inter : {InterTopology::nic_per_host, InterTopology::nic_per_device}) {
      ClusterBuilder builder(fmt::format("intra {} inter {} slow {}", static_cast<int>(intra),
                                         static_cast<int>(inter), slow_inside));
      add_grid({.domains = 2,
                .devices_per_domain = intra == IntraTopology::ring ? 7 : 8,
                .kind = "p100",
                .intra = intra,
                .intra_bandwidth = {20e9},
                .intra_latency = {slow_inside ? 7e-6 : 1e-6},
                .inter = inter,
                .inter_bandwidth = {10e9},
                .inter_latency = {5e-6},
                .device_bandwidth = std::nullopt},
               builder);
      all.push_back(std::move(builder).build());
    }
  }
  return all;
}

std::vector<Cluster> all_machines() {
  std::vector<Cluster> all = machines(false);
  for (Cluster& cluster : machines(true)) all.push_back(std::move(cluster));
  for (const char* name : kPresets) all.push_back(preset_cluster(name));
  return all;
}

bool has_kind(const Cluster& cluster, std::string_view kind) {
  return std::any_of(cluster.links().begin(), cluster.links().end(),
                     [&](const Link& link) { return link.kind == kind; });
}

BytesPerSecond bottleneck(const Cluster& cluster, DeviceId from, DeviceId to) {
  BytesPerSecond least = kNoLimit;
  for (const LinkId id : cluster.route(from, to)) least = std::min(least, cluster[id].bandwidth);
  return least;
}

/// The links on the way that stand for one step between neighbours in a host: of two steps through
/// a neighbour each has its latency.
double steps(const Cluster& cluster, DeviceId from, DeviceId to) {
  return cluster.latency(from, to) / cluster.latency(DeviceId(0), DeviceId(1));
}

template <class Visit>
void each_pair(const Cluster& cluster, Visit visit) {
  for (std::uint32_t a = 0; a < cluster.device_count(); ++a) {
    for (std::uint32_t b = 0; b < cluster.device_count(); ++b) {
      const DeviceId from(a), to(b);
      if (a != b) visit(from, to, cluster[from].host == cluster[to].host);
    }
  }
}

/// The routes are those of before, and leave a host only for another.
void expect_same_routes(const Cluster& before, const Cluster& after) {
  each_pair(before, [&](DeviceId from, DeviceId to, bool together) {
    const auto was = before.route(from, to), is = after.route(from, to);
    EXPECT_TRUE(std::equal(was.begin(), was.end(), is.begin(), is.end()));
    for (const LinkId id : is) {
      EXPECT_TRUE(after[id].kind == "intra" || !together) << after[id].name;
    }
  });
}

TEST(GridWhatIf, LatencyOfAKindIsExactlyThatOfItsPaths) {
  for (const Cluster& before : all_machines()) {
    for (const std::string kind : {"intra", "inter"}) {
      if (!has_kind(before, kind)) continue;
      const Cluster after = apply(before, "link." + kind + ".latency", "0.1us");
      const Cluster twice = apply(after, "link." + kind + ".latency", "2x");
      SCOPED_TRACE(before.name() + " " + kind);
      expect_same_routes(before, after);
      each_pair(before, [&](DeviceId from, DeviceId to, bool together) {
        const bool moved = together == (kind == "intra");
        const double expected = together ? steps(before, from, to) * 0.1e-6 : 0.1e-6;
        if (moved) {
          EXPECT_DOUBLE_EQ(after.latency(from, to).value, expected);
          EXPECT_DOUBLE_EQ(twice.latency(from, to).value, 2 * expected);
        } else {
          EXPECT_EQ(twice.latency(from, to), before.latency(from, to));
        }
      });
    }
  }
}

TEST(GridWhatIf, LatencyBetweenHostsIsTheFilesBefore) {
  for (const bool slow_inside : {false, true}) {
    for (const Cluster& cluster : machines(slow_inside)) {
      EXPECT_EQ(cluster.latency(DeviceId(0), DeviceId(13)).value, 5e-6) << cluster.name();
      EXPECT_EQ(cluster.latency(DeviceId(1), DeviceId(0)).value, slow_inside ? 7e-6 : 1e-6);
    }
  }
}

/// Where no link got worse (or none better), no path did.
void expect_paths_follow_links(const Cluster& before, const Cluster& after) {
  bool better = true, worse = true;  // link by link
  for (std::size_t i = 0; i < before.links().size(); ++i) {
    const Link &was = before.links()[i], &is = after.links()[i];
    better = better && is.latency <= was.latency && is.bandwidth >= was.bandwidth;
    worse = worse && is.latency >= was.latency && is.bandwidth <= was.bandwidth;
  }
  each_pair(before, [&](DeviceId from, DeviceId to, bool) {
    const Seconds was = before.latency(from, to), is = after.latency(from, to);
    if (better) {
      EXPECT_LE(is, was);
      EXPECT_GE(bottleneck(after, from, to), bottleneck(before, from, to));
    }
    if (worse) {
      EXPECT_GE(is, was);
      EXPECT_LE(bottleneck(after, from, to), bottleneck(before, from, to));
    }
  });
}

TEST(GridWhatIf, KeepsTheRoutesAndMakesNoPathWorseThanItsLinks) {
  for (const Cluster& before : all_machines()) {
    for (const std::string selector : {"intra", "inter", "*"}) {
      if (selector != "*" && !has_kind(before, selector)) continue;
      const auto check = [&](const char* what, const char* value) {
        SCOPED_TRACE(fmt::format("{} link.{}.{}={}", before.name(), selector, what, value));
        const Cluster after = apply(before, fmt::format("link.{}.{}", selector, what), value);
        expect_same_routes(before, after);
        expect_paths_follow_links(before, after);
      };
      for (const char* value : kLatencies) check("latency", value);
      for (const char* value : kBandwidths) check("bandwidth", value);
    }
  }
}

// The links behind a switch's ports keep their lack of a limit, and no path has only such links.
TEST(GridWhatIf, BandwidthOfAllLinksIsThatOfEveryPath) {
  for (const Cluster& before : all_machines()) {
    const Cluster after = apply(before, "link.*.bandwidth", "3 GB/s");
    each_pair(before, [&](DeviceId from, DeviceId to, bool) {
      EXPECT_EQ(bottleneck(after, from, to).value, 3e9) << before.name();
    });
  }
}

// gpu0's link to the switch is one resource for both ways: naming it moves both.
TEST(GridWhatIf, ALinkToASwitchIsSharedByTrafficInsideAndOut) {
  const Cluster slow =
      apply(preset_cluster("k80-2x2"), "link.host0/gpu0>bridge.bandwidth", "1 GB/s");
  EXPECT_EQ(bottleneck(slow, DeviceId(0), DeviceId(1)).value, 1e9);
  EXPECT_EQ(bottleneck(slow, DeviceId(0), DeviceId(2)).value, 1e9);
  const Cluster fast =
      apply(preset_cluster("k80-2x2"), "link.host0/gpu0>bridge.bandwidth", "90 GB/s");
  EXPECT_EQ(bottleneck(apply(fast, "link.host0/bridge>gpu1.bandwidth", "80 GB/s"), DeviceId(0),
                       DeviceId(1))
                .value,
            80e9);
}

}  // namespace
}  // namespace strata
