#pragma once

// What the engine's benchmarks simulate, described apart from any simulator so that SimGrid gets
// exactly the same. Reproducible from the seed on every machine (std::mt19937_64 is specified to
// the bit; the standard's distributions are not, so none is used).

#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "sim/engine/engine.h"

namespace strata::bench {

/// Hosts around a switch: a link up (2 h) and one down (2 h + 1) for each.
struct Star {
  std::size_t hosts = 64;
  double bandwidth = 12.5e9;  ///< of each link, bytes/s
  double latency = 1e-6;      ///< between two hosts, seconds
};

/// Computations in layers, each fed by flows from earlier layers. A host runs its computations
/// one after another in the order of their numbers: each waits for the one before it there.
struct LayeredDag {
  struct Computation {
    std::uint32_t host;
    double seconds;
  };
  struct Flow {
    std::uint32_t from, to;  ///< computations, on different hosts
    double bytes;
  };
  std::vector<Computation> computations;
  std::vector<Flow> flows;
};

inline LayeredDag make_layered_dag(const Star& star, std::size_t layers, std::size_t width,
                                   std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto pick = [&](std::size_t n) { return static_cast<std::uint32_t>(random() % n); };
  const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  LayeredDag dag;
  for (std::size_t i = 0; i < layers * width; ++i) {
    dag.computations.push_back({pick(star.hosts), 1e-3 * (0.5 + uniform())});
  }
  // Two flows for each computation on average; most from the layer before, some skip layers.
  for (std::size_t f = 0; f < 2 * layers * width; ++f) {
    const std::uint32_t to = pick(layers * width);
    const std::size_t layer = to / width;
    if (layer == 0) {
      --f;
      continue;
    }
    const std::size_t back = pick(5) == 0 ? 1 + pick(layer < 4 ? layer : 4) : 1;
    const auto from = static_cast<std::uint32_t>((layer - back) * width + pick(width));
    if (dag.computations[from].host == dag.computations[to].host) {
      --f;
      continue;
    }
    // Contended, but not so much that flows back up over many layers: sharing then amplifies
    // the picosecond to which simulators round (at 1.9e7 to 1e-5 of the makespan).
    const double size = uniform();
    dag.flows.push_back({from, to, 1e4 + 1.2e7 * size * size * size});
  }
  return dag;
}

inline std::vector<BytesPerSecond> bandwidths(const Star& star) {
  return std::vector<BytesPerSecond>(2 * star.hosts, BytesPerSecond{star.bandwidth});
}

inline Workload to_workload(const Star& star, const LayeredDag& dag) {
  Workload w(star.hosts, bandwidths(star));
  const std::size_t size = dag.computations.size() + dag.flows.size();
  w.reserve(size, 0, size + dag.flows.size());
  std::vector<ActivityId> last(star.hosts);
  for (const auto& c : dag.computations) {
    const ActivityId id = w.add_compute(DeviceId{c.host}, to_ticks({c.seconds}));
    if (last[c.host].valid()) w.add_dependency(id, last[c.host]);
    last[c.host] = id;
  }
  for (const auto& f : dag.flows) {
    const std::size_t from = dag.computations[f.from].host, to = dag.computations[f.to].host;
    const LinkId links[] = {LinkId{2 * from}, LinkId{2 * to + 1}};
    const ActivityId id = w.add_flow(links, f.bytes, to_ticks({star.latency}));
    w.add_dependency(id, ActivityId{f.from});
    w.add_dependency(ActivityId{f.to}, id);
  }
  return w;
}

/// A ring all-reduce of `bytes` over the star's hosts written out as 2 (n - 1) n messages: each
/// waits for the sender's message of the round before and for the one that the sender received.
inline Workload make_ring_messages(const Star& star, double bytes) {
  const std::size_t n = star.hosts, rounds = 2 * (n - 1);
  Workload w(n, bandwidths(star));
  w.reserve(rounds * n, 0, 2 * (rounds - 1) * n);
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t d = 0; d < n; ++d) {
      const LinkId links[] = {LinkId{2 * d}, LinkId{2 * ((d + 1) % n) + 1}};
      const ActivityId id =
          w.add_flow(links, bytes / static_cast<double>(n), to_ticks({star.latency}));
      if (round == 0) continue;
      w.add_dependency(id, ActivityId{(round - 1) * n + d});
      w.add_dependency(id, ActivityId{(round - 1) * n + (d + n - 1) % n});
    }
  }
  return w;
}

/// The same all-reduce as one activity that loads every link of the ring.
inline Workload make_ring_activity(const Star& star, double bytes) {
  const auto rounds = static_cast<double>(2 * (star.hosts - 1));
  Workload w(star.hosts, bandwidths(star));
  std::vector<LinkId> links;
  for (std::size_t l = 0; l < 2 * star.hosts; ++l) links.push_back(LinkId{l});
  w.add_flow(links, bytes * rounds / static_cast<double>(star.hosts),
             to_ticks({rounds * star.latency}));
  return w;
}

/// A step of data parallelism of a network like VGG-16: every host computes all layers forward and
/// backward, then a ring all-reduce sums all gradients in 2 (n - 1) rounds of a message each.
struct DataParallelStep {
  std::size_t layers = 16;
  double forward_seconds = 4e-3, backward_seconds = 8e-3;  ///< of a layer
  double gradient_bytes = 553e6;
};

inline std::size_t ring_rounds(const Star& star) {
  return 2 * (star.hosts - 1);
}

/// Whole bytes, as SimGrid counts them.
inline double message_bytes(const Star& star, const DataParallelStep& step) {
  return std::floor(step.gradient_bytes / static_cast<double>(star.hosts));
}

/// A message of the ring waits for its sender: for the last computation at first, then for what it
/// sent and received in the round before.
inline Workload to_workload(const Star& star, const DataParallelStep& step) {
  const std::size_t n = star.hosts, size = (2 * step.layers + ring_rounds(star)) * n;
  Workload w(n, bandwidths(star));
  w.reserve(size, 0, 2 * size);
  std::vector<ActivityId> last(n), sent(n);
  for (std::size_t layer = 0; layer < 2 * step.layers; ++layer) {
    const double seconds = layer < step.layers ? step.forward_seconds : step.backward_seconds;
    for (std::size_t d = 0; d < n; ++d) {
      const ActivityId id = w.add_compute(DeviceId{d}, to_ticks({seconds}));
      if (layer > 0) w.add_dependency(id, last[d]);
      last[d] = id;
    }
  }
  for (std::size_t round = 0; round < ring_rounds(star); ++round) {
    for (std::size_t d = 0; d < n; ++d) {
      const LinkId links[] = {LinkId{2 * d}, LinkId{2 * ((d + 1) % n) + 1}};
      sent[d] = w.add_flow(links, message_bytes(star, step), to_ticks({star.latency}));
      w.add_dependency(sent[d], last[d]);
      if (round > 0) w.add_dependency(sent[d], last[(d + n - 1) % n]);
    }
    std::swap(last, sent);
  }
  return w;
}

}  // namespace strata::bench
