#pragma once

// Measured costs for predictions: which shard shapes a set of strategies computes, and a Profile
// made of what a Measurer has seen of them. `strata profile` and `strata validate`. Pure functions,
// but that strategies may be read from files.

#include <string>
#include <vector>

#include "sim/case/predict.h"
#include "sim/cluster/cluster.h"
#include "sim/graph/graph.h"
#include "sim/measure/runner.h"
#include "sim/profile/profile.h"
#include "sim/search/asked_strategy.h"
#include "sim/search/solve.h"
#include "sim/strategy/search_space.h"
#include "sim/strategy/strategy.h"

namespace strata {

/// Every phase of every shard that the strategy computes.
std::vector<MeasureRequest> shapes_of(const Graph& graph, const Strategy& strategy);
/// Of every configuration that a search looks at.
std::vector<MeasureRequest> shapes_of(const Graph& graph, const SearchSpace& space);

/// Of each of these; optimal stands for the whole search.
std::vector<MeasureRequest> shapes_of(const Graph& graph, const Cluster& cluster,
                                      const std::vector<AskedStrategy>& strategies);

/// Powers of four, from 1 KiB to 16 MiB at least, and on until the network's largest tensor fits,
/// to 256 MiB at most.
std::vector<Bytes> move_sizes(const Graph& graph);

/// Where a profile comes from.
struct Origin {
  std::string kind = "cpu";
  std::string machine;  ///< the Runner's description
  std::string date;     ///< ISO
  std::string command;
  std::string method;        ///< the Measurer's
  Sourced<Bytes> memory;     ///< of a device
  std::int64_t devices = 0;  ///< busy at once, where they share the host's memory
};

/// Of these devices, without what is of one measurement: date, command, method. Throws InputError
/// where they are of several kinds, since a profile is of one.
Origin origin_of(const Runner& runner, const std::string& devices);

/// The measured rows, and a roofline for what was not measured: of the profile that ships for the
/// kind, else around the rows, with peaks and bandwidth of the fastest ones.
Profile profile_of(std::vector<MeasuredCost> costs, std::vector<MeasuredMove> moves,
                   const Origin& origin);

/// The profile with these rows beside its own, which take the place of older ones of the same key.
/// Its roofline is the faster of both, its provenance that of the newer, beside those of all
/// earlier parts.
Profile merged(const Profile& profile, const Profile& newer);

/// How far measuring is.
struct MeasureProgress {
  std::string what;  ///< "lenet5 on cpu:2"
  std::size_t round = 0, of = 0;
  bool simulated = false;  ///< the steps of rounds that were measured before
};

/// Links as the measured copies are: as fast as one of a mebibyte, where devices copy themselves;
/// where copy engines do it, with the latency of the smallest and the rate of a large one beyond
/// it. Links between GPUs stay as they are where devices on one GPU were measured, and all do where
/// no copy was.
Cluster with_measured_links(const Cluster& cluster, const CostModel& model);

/// A case on measured devices and links.
Case measured_case(Graph graph, const Cluster& cluster, const Profile& profile,
                   const GradientSync& sync, DTypes dtypes);

}  // namespace strata
