#pragma once

// Measured costs for predictions: which shard shapes a set of strategies computes, and a Profile
// made of what a Measurer has seen of them. `strata profile` and `strata validate`. Pure functions,
// but that strategies may be read from files.

#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/graph/graph.h"
#include "sim/profile/profile.h"
#include "sim/strategy/search_space.h"
#include "sim/strategy/strategy.h"
#include "sim/study/predict.h"
#include "sim/study/runner.h"

namespace strata {

/// Every phase of every shard that the strategy computes.
std::vector<MeasureRequest> shapes_of(const Graph& graph, const Strategy& strategy);
/// Of every configuration that a search looks at.
std::vector<MeasureRequest> shapes_of(const Graph& graph, const SearchSpace& space);

/// Of each of these: data, model, owt, a file, or optimal, which stands for the whole search.
std::vector<MeasureRequest> shapes_of(const Graph& graph, const Cluster& cluster,
                                      const std::vector<std::string>& strategies);

/// Powers of four from 1 KiB to 256 MiB.
std::vector<Bytes> move_sizes();

/// Where a profile comes from.
struct Origin {
  std::string kind = "cpu";
  std::string machine;  ///< the Runner's description
  std::string date;     ///< ISO
  std::string command;
  Bytes memory;
  std::int64_t devices = 0;  ///< measured at once
};

/// What the machine has, shared by so many devices.
Bytes memory_of_a_device(std::size_t devices);

/// The measured rows, and a roofline around them for what was not measured: peak and bandwidth are
/// those of the fastest rows.
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
};

/// A case on measured devices: links as fast as the profile's copies of a mebibyte.
Case measured_case(Graph graph, const Cluster& cluster, const Profile& profile, SyncAlgorithm sync);

}  // namespace strata
