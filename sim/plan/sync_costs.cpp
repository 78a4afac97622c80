#include "sim/plan/sync_costs.h"

#include <algorithm>
#include <limits>

#include "sim/plan/ring_order.h"

namespace strata {

std::span<const SyncAlgorithm> parameter_algorithms() {
  static constexpr std::array kAlgorithms = {SyncAlgorithm::ring, SyncAlgorithm::tree,
                                             SyncAlgorithm::hierarchical, SyncAlgorithm::ps};
  return kAlgorithms;
}

std::span<const SyncAlgorithm> collective_algorithms() {
  return parameter_algorithms().first(3);
}

std::span<const SyncAlgorithm> statistics_algorithms() {
  static constexpr std::array kAlgorithms = {SyncAlgorithm::ring, SyncAlgorithm::tree};
  return kAlgorithms;
}

std::size_t server_replica(std::size_t ordinal, std::size_t shard, std::size_t replicas) {
  return (ordinal + shard) % replicas;
}

void JointSync::Step::add_up() {
  std::sort(loads.begin(), loads.end(), [](const Load& a, const Load& b) {
    return std::pair(a.link, a.group) < std::pair(b.link, b.group);
  });
  seconds_per_byte = slowest_link([](std::uint32_t) { return 1.0; });
}

template <class BytesOf>
double JointSync::Step::slowest_link(const BytesOf& bytes_of) const {
  double slowest = 0, sum = 0;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    sum += loads[i].seconds_per_byte * bytes_of(loads[i].group);
    if (i + 1 < loads.size() && loads[i + 1].link == loads[i].link) continue;
    slowest = std::max(slowest, sum);
    sum = 0;
  }
  return slowest;
}

Seconds JointSync::Step::time(std::span<const Bytes> bytes) const {
  return latency + Seconds{slowest_link([&](std::uint32_t group) {
           return static_cast<double>(bytes[group].value);
         })};
}

// Step by step: every algorithm gives all groups phases in the same roles.
JointSync::Steps JointSync::collective_steps(const Collectives& all,
                                             std::span<const std::uint32_t> protocols) const {
  Steps steps;
  for (std::uint32_t group = 0; group < groups_.size(); ++group) {
    const auto phases = all.groups[group].phases(protocols[group]);
    if (steps.size() < phases.size()) steps.resize(phases.size());
    for (std::size_t k = 0; k < phases.size(); ++k) {
      steps[k].latency = std::max(steps[k].latency, phases[k].latency);
      for (const LinkLoad& load : phases[k].loads) {
        const double weight = load.demand() * phases[k].bytes_per_byte;
        steps[k].loads.push_back({load.link, group, weight / cluster_[load.link].bandwidth.value});
      }
    }
  }
  for (Step& step : steps) step.add_up();
  return steps;
}

// Gradients to the server, parameters back.
JointSync::Steps JointSync::server_steps(std::uint32_t ordinal) const {
  Steps steps(2);
  for (std::uint32_t group = 0; group < groups_.size(); ++group) {
    const std::vector<DeviceId>& devices = groups_[group];
    const DeviceId server = devices[server_replica(ordinal, group, devices.size())];
    const auto move = [&](Step& step, DeviceId from, DeviceId to) {
      for (LinkId link : cluster_.route(from, to)) {
        step.loads.push_back({link, group, 1 / cluster_[link].bandwidth.value});
      }
      step.latency = std::max(step.latency, cluster_.latency(from, to));
    };
    for (DeviceId replica : devices) {
      if (replica == server) continue;
      move(steps[0], replica, server);
      move(steps[1], server, replica);
    }
  }
  for (Step& step : steps) step.add_up();
  return steps;
}

const JointSync::Steps& JointSync::steps(SyncAlgorithm algorithm, std::span<const Bytes> bytes,
                                         bool equal, std::uint32_t ordinal) const {
  if (algorithm == SyncAlgorithm::ps) {
    const std::lock_guard guard(lock_);
    const auto [at, fresh] = server_steps_.try_emplace(ordinal % replicas());
    if (fresh) at->second = server_steps(ordinal);
    return at->second;
  }
  const auto index = static_cast<std::size_t>(algorithm);
  Collectives& all = collectives_[index];
  std::call_once(worked_out_[index], [&] {
    for (const std::vector<DeviceId>& devices : groups_) {
      all.groups.emplace_back(algorithm, GroupWork::all_reduce, cluster_, devices);
      all.has_choice |= all.groups.back().has_choice();
    }
    const std::vector<std::uint32_t> first(groups_.size());
    all.steps.emplace(first, collective_steps(all, first));
  });
  if (!all.has_choice) return all.steps.begin()->second;
  const std::lock_guard guard(lock_);
  return steps(all, bytes, equal);
}

// Each group takes what is the fastest for its own bytes.
const JointSync::Steps& JointSync::steps(Collectives& all, std::span<const Bytes> bytes,
                                         bool equal) const {
  const Steps** known = equal ? &all.equal[bytes.front()] : nullptr;
  if (known != nullptr && *known != nullptr) return **known;
  std::vector<std::uint32_t> protocols;
  protocols.reserve(groups_.size());
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    protocols.push_back(all.groups[g].fastest(bytes[g]));
  }
  const auto [at, fresh] = all.steps.try_emplace(protocols);
  if (fresh) at->second = collective_steps(all, protocols);
  if (known != nullptr) *known = &at->second;
  return at->second;
}

Seconds JointSync::time(SyncAlgorithm algorithm, std::span<const Bytes> bytes,
                        std::uint32_t ordinal) const {
  const bool equal =
      std::all_of(bytes.begin(), bytes.end(), [&](Bytes b) { return b == bytes.front(); });
  Seconds total;
  for (const Step& step : steps(algorithm, bytes, equal, ordinal)) {
    total += equal ? step.latency +
                         Seconds{step.seconds_per_byte * static_cast<double>(bytes.front().value)}
                   : step.time(bytes);
  }
  return total;
}

SyncAlgorithm JointSync::cheapest(std::span<const SyncAlgorithm> choices,
                                  std::span<const Bytes> bytes, std::uint32_t ordinal) const {
  SyncAlgorithm best = choices.front();
  Seconds least{std::numeric_limits<double>::infinity()};
  for (SyncAlgorithm choice : choices) {
    const Seconds taken = time(choice, bytes, ordinal);
    if (taken < least) best = choice, least = taken;
  }
  return best;
}

const Collective& SyncCosts::collective(SyncAlgorithm algorithm,
                                        const std::vector<DeviceId>& devices, GroupWork work,
                                        const SentOnce& sent) {
  return remembered(collectives_, std::tuple(algorithm, work, devices, sent),
                    [&] { return Collective(algorithm, work, cluster_, devices, sent); });
}

const std::vector<DeviceId>& SyncCosts::ring(const std::vector<DeviceId>& devices) {
  return remembered(rings_, devices, [&] { return ring_order(cluster_, devices); });
}

const JointSync& SyncCosts::joint(const std::vector<std::vector<DeviceId>>& groups) {
  return *remembered(joint_, groups, [&] { return std::make_unique<JointSync>(cluster_, groups); });
}

SyncAlgorithm SyncCosts::cheapest(std::span<const SyncAlgorithm> choices,
                                  std::span<const ReplicaGroup> groups, std::uint32_t ordinal) {
  std::vector<std::vector<DeviceId>> devices;
  std::vector<Bytes> bytes;
  for (const ReplicaGroup& group : groups) {
    devices.push_back(group.devices);
    bytes.push_back(group.bytes);
  }
  return joint(devices).cheapest(choices, bytes, ordinal);
}

}  // namespace strata
