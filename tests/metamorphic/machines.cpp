// The same case on another machine: a faster one, one whose parts have other names, one whose links
// are in two halves, one on which everything takes half the time, one of twice as many hosts.

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "sim/case/framework.h"
#include "sim/cluster/builder.h"
#include "sim/cluster/what_if.h"
#include "tests/metamorphic/anomaly.h"
#include "tests/metamorphic/relation.h"

namespace strata::testing {
namespace {

// What is chosen by its time on idle links may be chosen otherwise: the algorithm of a sum, a
// library's protocol.
bool chooses(const Trial& trial) {
  return trial.cut().sync.algorithm == SyncAlgorithm::automatic ||
         trial.input().cluster.communication_library() != CommunicationLibrary{};
}

// The base case with a what-if that sees what its own made. Where one link gets faster, its flows
// take more of the links that they share with others; where latencies get shorter, which are not
// all equal, flows meet others than before.
void expect_no_slower_with(Trial& trial, const std::string& key, const std::string& value,
                           bool flows_meet_others = false) {
  trial.applies();
  DrawnCase changed = trial.drawn;
  changed.settings.push_back({"set." + key, value});
  const Answer faster = trial.of(changed);
  double bound = flows_meet_others || chooses(trial) ? kMostOfAnomalies : 0;
  const bool slower = faster.found.step.value > trial.step().value * (1 + 1e-9);
  if (slower && is_anomaly(trial.base, faster)) bound = 1;
  trial.expect_not_faster(trial.step(), faster.found.step, fmt::format("without {}={}", key, value),
                          bound);
}

std::string drawn_multiple(Trial& trial) {
  return pick(trial.random, 0, 1) == 0 ? "4x" : "1.3x";
}

void more_bandwidth_is_not_slower(Trial& trial) {
  const auto links = trial.input().cluster.links();
  if (links.empty()) return;
  expect_no_slower_with(trial, "link.*.bandwidth", drawn_multiple(trial));
  const std::string& one = links[trial.random() % links.size()].name;
  expect_no_slower_with(trial, fmt::format("link.{}.bandwidth", one), drawn_multiple(trial), true);
}

void less_latency_is_not_slower(Trial& trial) {
  const auto links = trial.input().cluster.links();
  if (links.empty()) return;
  const bool differ = std::any_of(links.begin(), links.end(), [&](const Link& link) {
    return link.latency != links.front().latency;
  });
  expect_no_slower_with(trial, "link.*.latency", pick(trial.random, 0, 1) == 0 ? "0.5x" : "0.01x",
                        differ);
}

void faster_devices_are_not_slower(Trial& trial) {
  expect_no_slower_with(trial,
                        pick(trial.random, 0, 1) == 0 ? "device.*.speed" : "device.first:1.speed",
                        drawn_multiple(trial));
}

void fewer_launches_are_not_slower(Trial& trial) {
  const Launches& now = trial.input().runtime.launches;
  const std::pair<std::string_view, Seconds> launches[] = {
      {"launch.forward", now.forward},
      {"launch.backward", now.backward},
      {"launch.update", now.update},
      {"launch.communication", now.communication},
      {"launch.lockstep", now.lockstep}};
  const auto& [key, time] = launches[trial.random() % std::size(launches)];
  if (time == Seconds{0}) return;
  expect_no_slower_with(trial, std::string(key), fmt::format("{:.12f} s", time.value / 10));
}

/// Predicts the same strategy on another cluster, whose devices have the same numbers.
Prediction on(const Trial& trial, Cluster cluster) {
  Case changed = trial.input();
  changed.cluster = std::move(cluster);
  return trial.predicted(changed);
}

/// A copy of the cluster with its devices as `device` makes them and each link as `add` adds it.
template <class DeviceOf, class AddLink>
Cluster rebuilt(const Cluster& cluster, const DeviceOf& device, const AddLink& add) {
  ClusterBuilder builder(cluster);
  for (const Device& each : cluster.devices()) builder.add_device(device(each));
  for (const std::string& name : cluster.switches()) builder.add_switch(name);
  for (const Link& link : cluster.links()) {
    add(builder, LinkSpec{cluster.vertex_name(link.from), cluster.vertex_name(link.to),
                          link.bandwidth, link.latency, link.name, link.kind});
  }
  builder.set_communication_library(cluster.communication_library());
  return std::move(builder).build();
}

bool names_decide(const Cluster& cluster) {
  for (std::size_t d = 0; d < cluster.device_count(); ++d) {
    if (cluster.names_decide_routes(DeviceId(d))) return true;
  }
  return !cluster.fixed_routes().empty();
}

void names_do_not_matter(Trial& trial) {
  const Cluster& cluster = trial.input().cluster;
  if (names_decide(cluster)) return;
  trial.applies();
  const auto renamed = [&](const std::string& name) {
    const bool device = cluster.find_device(name).valid();
    return device ? fmt::format("x{}", 1000 - cluster.find_device(name)()) : name;
  };
  const Cluster other = rebuilt(
      cluster,
      [&](Device device) {
        device.name = renamed(device.name);
        if (!device.host.empty()) device.host = "at-" + device.host;
        return device;
      },
      [&](ClusterBuilder& builder, LinkSpec link) {
        link = {renamed(link.from), renamed(link.to),  link.bandwidth,
                link.latency,       "to-" + link.name, link.kind};
        builder.add_link(std::move(link));
      });
  const Prediction again = on(trial, other);
  trial.expect_equal(again.step, trial.step(), "steps under other names");
  trial.expect_equal(again.peak_memory, trial.found().peak_memory, "peaks under other names");
}

// All links, so that routes stay the shortest.
void links_in_two_halves_are_as_whole(Trial& trial) {
  const Cluster& cluster = trial.input().cluster;
  const bool library = cluster.communication_library() != CommunicationLibrary{};
  if (names_decide(cluster) || library) return;
  trial.applies();
  const Cluster halves = rebuilt(
      cluster, [](const Device& device) { return device; },
      [](ClusterBuilder& builder, const LinkSpec& link) {
        const std::string middle = "middle of " + link.name;
        builder.add_switch(middle);
        const Seconds half = link.latency / 2;
        builder.add_link({link.from, middle, link.bandwidth, half, link.name + "/1", link.kind});
        builder.add_link({middle, link.to, link.bandwidth, half, link.name + "/2", link.kind});
      });
  const Prediction again = on(trial, halves);
  trial.expect_near(again.step.value, trial.step().value, "steps over links in two halves", 1e-7);
  trial.expect_equal(again.communication, trial.found().communication,
                     "bytes over links in two halves");
}

// Latencies of a library's own do not change with the links.
void twice_as_fast_takes_half_the_time(Trial& trial) {
  const Cluster& cluster = trial.input().cluster;
  if (cluster.communication_library() != CommunicationLibrary{}) return;
  trial.applies();
  Case fast = trial.input();
  fast.cluster = rebuilt(
      cluster,
      [](Device device) {
        device.speed *= 2;
        return device;
      },
      [](ClusterBuilder& builder, LinkSpec link) {
        if (link.bandwidth < kNoLimit) link.bandwidth = link.bandwidth * 2;
        link.latency = link.latency / 2;
        builder.add_link(std::move(link));
      });
  Launches& launches = fast.runtime.launches;
  for (Seconds* launch : {&launches.forward, &launches.backward, &launches.update,
                          &launches.communication, &launches.lockstep}) {
    *launch = *launch / 2;
  }
  fast.sync.broadcast_hop = fast.sync.broadcast_hop / 2;
  HostUpdates& host = fast.runtime.host;
  for (HostRate* rate : {&host.link, &host.memory}) rate->times *= 2;
  const Answer half{trial.base.question, fast, trial.base.strategy, trial.predicted(fast)};
  // Ticks are rounded otherwise, which may change the order of tasks, and so when communication
  // slows computation.
  constexpr double kRounding = 1e-5;
  const double most = trial.input().runtime.communication_share > 0 ? kMostOfAnomalies : kRounding;
  const double twice = 2 * half.found.step.value, step = trial.step().value;
  if (twice > step * (1 + most) && is_anomaly(trial.base, half, 0.5)) return;
  if (twice < step * (1 - most) && is_anomaly(half, trial.base, 2)) return;
  trial.expect_near(twice, step, "steps of a machine twice as fast", most);
}

// Whether the step may be its host's: frameworks say how fast a host launches kernels.
bool may_wait_for_host(const DrawnCase& drawn) {
  if (drawn.value("offload") == "optimizer") return true;
  const std::string name = drawn.value("as");
  return !name.empty() && name != "none" &&
         std::ranges::any_of(load_framework(name).what_ifs, [](const FrameworkEntry& entry) {
           return entry.key.starts_with("launch.");
         });
}

void one_device_communicates_nothing(Trial& trial) {
  trial.applies();
  const std::string kind = trial.input().cluster.devices().front().kind;
  DrawnCase alone = trial.drawn.with({{"cluster", kind == "p100-pcie" ? "p100-1x1" : kind + "-1x1"},
                                      {"strategy", "data"},
                                      {"micro_batch", ""},
                                      {"schedule", ""}});
  std::erase_if(alone.settings, [](const Setting& s) { return s.key.starts_with("set."); });
  const Answer found = trial.of(alone);
  trial.expect_equal(found.found.communication, Communication{}, "bytes of one device and none");
  const double computing = device_work(found.input, found.found).front().total().value;
  const bool waits = may_wait_for_host(alone);
  trial.expect(waits || found.found.step.value <= computing * (1 + 1e-6) + 1e-9, [&] {
    return fmt::format("one device takes {} s to compute {} s", found.found.step.value, computing);
  });
}

/// "p100-2x4" is 2 hosts of 4 devices; nothing for other clusters.
std::optional<std::string> with_twice_the_hosts(const std::string& name) {
  const std::size_t dash = name.rfind('-'), times = name.rfind('x');
  if (dash == std::string::npos || times == std::string::npos || times < dash) return std::nullopt;
  int hosts = 0;
  const char* const end = name.data() + times;
  if (std::from_chars(name.data() + dash + 1, end, hosts).ptr != end) return std::nullopt;
  return fmt::format("{}-{}{}", name.substr(0, dash), 2 * hosts, name.substr(times));
}

// Under data parallelism, of the same batch: with half as many rounds each.
void twice_the_hosts_do_half_each(Trial& trial) {
  const auto twice = with_twice_the_hosts(trial.drawn.value("cluster"));
  const bool even = trial.cut().rounds % 2 == 0;
  if (!twice || !even || !trial.is("strategy", "data")) return;
  trial.applies();
  const Answer more = trial.with({{"cluster", *twice}});
  const auto few = device_work(trial.input(), trial.found()),
             many = device_work(more.input, more.found);
  // What-ifs on the last devices are of others then; of more hosts the slowest is slower.
  if (trial.input().host_jitter > 0) return;
  if (trial.drawn.text().find("set.device.last") != std::string::npos) return;
  for (std::size_t d = 0; d < few.size(); ++d) {
    trial.expect_near(2 * many[d].compute.value, few[d].compute.value,
                      "computing on twice the hosts", 1e-6);
  }
}

constexpr Relation kMachineRelations[] = {
    {"more bandwidth is not slower", more_bandwidth_is_not_slower, 4, true},
    {"less latency is not slower", less_latency_is_not_slower, 2, true},
    {"faster devices are not slower", faster_devices_are_not_slower, 2, true},
    {"fewer launches are not slower", fewer_launches_are_not_slower, 1, true},
    {"names do not matter", names_do_not_matter, 4},
    {"links in two halves are as whole", links_in_two_halves_are_as_whole, 3},
    {"twice as fast takes half the time", twice_as_fast_takes_half_the_time, 2, true},
    {"one device communicates nothing", one_device_communicates_nothing, 4, true},
    {"twice the hosts do half each", twice_the_hosts_do_half_each, 1, true},
};

}  // namespace

std::span<const Relation> machine_relations() {
  return kMachineRelations;
}

}  // namespace strata::testing
