#pragma once

// A case: a network on a cluster, how its step trains, and what devices take, loaded from names and
// files. Everything about a prediction but the strategy. Values; thread-safe.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/case/training.h"
#include "sim/cluster/cluster.h"
#include "sim/cost/eq1.h"
#include "sim/graph/graph.h"
#include "sim/graph/open_dims.h"
#include "sim/graph/optimizer.h"
#include "sim/profile/profile.h"
#include "sim/simulate/simulate.h"
#include "sim/strategy/schedule.h"

namespace strata {

/// The name of no framework at all.
inline constexpr std::string_view kNoFramework = "none";

/// Keys and values of --set (what_ifs()), in order; docs/clusters.md says what each changes.
using WhatIfs = std::vector<std::pair<std::string, std::string>>;

/// Whether ops of an .onnx file that are not read are errors or opaque ones (op.h).
enum class Unsupported : std::uint8_t { refuse, opaque };

/// A case by names and files.
struct CaseRequest {
  std::string model;                     ///< a zoo name or a file
  OpenDims dims = {};                    ///< of the file
  std::optional<std::int64_t> seq = {};  ///< tokens of a sequence, of a transformer by name
  std::string cluster;                   ///< a preset's name or a file
  Training training = {};
  std::string framework = std::string(kNoFramework);  ///< a name or a file (framework.h)
  std::vector<std::string> profiles;  ///< files that stand in for the shipped profile of their kind
  WhatIfs sets;
  Unsupported unsupported = Unsupported::refuse;

  bool operator==(const CaseRequest&) const = default;
};

inline constexpr std::int64_t kMostMicroBatches = 100'000;

/// A batch that is cut in time.
struct MicroBatches {
  std::int64_t batch = 1;    ///< samples of a step
  std::int64_t samples = 1;  ///< of a round, for each data-parallel group
};

/// Everything about a prediction but the strategy.
struct Case {
  Graph graph;  ///< of the whole batch, or of one round (in_rounds(), rounds.h)
  Cluster cluster;
  GradientSync sync = {};
  DTypes dtypes = {};
  std::vector<std::shared_ptr<const CostModel>> models;  ///< by device
  Optimizer optimizer = Optimizer::sgd;
  Products products = Products::apart;
  Runtime runtime = {};
  bool gathers_again = false;  ///< LowerOptions::gathers_again
  Exchanges exchanges = Exchanges::pairwise;
  bool shares_by_block = false;  ///< the usual bucket is the largest block's (settle_what_ifs())
  double host_jitter = 0;        ///< by how much hosts differ (with_host_jitter())
  std::optional<MicroBatches> cut = {};  ///< that is yet to be made, of any graph of the network
  std::uint32_t rounds = 1;              ///< each of which has the graph's batch
  ScheduleChoice schedule = {};
  Recompute recompute = Recompute::none;  ///< of strategies that do not say it themselves
  std::string train = {};                 ///< as which the graph was made: Training::train
  std::string framework = std::string(kNoFramework);  ///< as which it was loaded

  std::int64_t batch() const { return cut ? cut->batch : graph.batch() * rounds; }
};

/// The same case where the kernels of each device work otherwise.
void change_kernels(Case& input, const std::function<void(KernelTraits&)>& change);
/// The kernels of all devices; where they differ, of each that which keeps less.
KernelTraits kernels_of(const Case& input);
ComputeSettings compute_settings(const Case& input);

/// How it trains, as settings say it; with gradients where they are not of the parameters' type.
Training training_of(const Case& input);

/// The memory of the device that a training may use.
Bytes memory_capacity(const Case& input, DeviceId device);
/// That of the device that has the least.
Bytes least_memory_capacity(const Case& input);

/// Throws InputError for anything that is not there or does not fit.
Case load_case(const CaseRequest& request);

/// One for each device of the cluster: from a file of `profiles`, or the shipped one of its kind.
/// Throws InputError where there is none.
std::vector<std::shared_ptr<const CostModel>> load_cost_models(
    const Cluster& cluster, const std::vector<std::string>& profiles);

/// A preset's name or a file, changed.
Cluster load_cluster(const std::string& cluster, const WhatIfs& changes);

/// As load_network() (network.h), without what the file has beside it.
Graph load_model(const std::string& model, std::int64_t batch,
                 Unsupported unsupported = Unsupported::refuse, const OpenDims& dims = {});

}  // namespace strata
