#include "sim/search/bound_sums.h"

#include <algorithm>
#include <deque>
#include <optional>

#include "sim/base/cancel.h"
#include "sim/base/parallel.h"
#include "sim/graph/regions.h"
#include "sim/search/exchange_bound.h"
#include "sim/search/layer_chain.h"
#include "sim/search/shard_times.h"
#include "sim/step/buckets.h"
#include "sim/step/redistribution.h"
#include "sim/step/shard_groups.h"

namespace strata {
namespace {

/// Shards that are looked at in a few tenths of a second, and pairs of choices.
constexpr std::size_t kMostShards = 400'000, kMostChoicePairs = 250'000;

std::size_t count_pairs(const SearchSpace& space) {
  std::size_t pairs = 0;
  for (std::size_t v = 0; v + 1 < space.size(); ++v) {
    pairs += space[v].cuts->size() * space[v + 1].cuts->size();
  }
  return pairs;
}

bool sends_over_links(const Cluster& cluster) {
  for (std::size_t from = 0; from < cluster.device_count(); ++from) {
    if (!cluster[DeviceId(from)].copy_engine) return false;
    for (std::size_t to = 0; to < cluster.device_count(); ++to) {
      if (from != to && !cluster.connects(DeviceId(from), DeviceId(to))) return false;
    }
  }
  return true;
}

class SumsBuilder {
 public:
  SumsBuilder(const Case& input, const SearchSpace& space, const SolveLimits& limits)
      : input_(input),
        space_(space),
        limits_(limits),
        devices_(input.cluster.device_count()),
        ordinals_(parameter_ordinals(input.graph)),
        sync_costs_(input.cluster) {
    // A library's rings load other links than pairs of devices do.
    if (input.exchanges == Exchanges::pairwise && sends_over_links(input.cluster)) {
      exchange_.emplace(input.cluster, input.runtime.overlap == Overlap::allowed);
      links_ = exchange_->busiest_links();
    }
    if (LayerChain::applies(input)) chain_.emplace(input, *exchange_);
    if (chain_ && (count_pairs(space) > kMostChoicePairs || !follows_variables())) chain_.reset();
    sums_.paired = devices_;
    sums_.chain = devices_ + links_.size();
    sums_.terms = sums_.chain + (chain_ ? 1 : 0);
    const unsigned workers = limits.threads > 0 ? limits.threads : core_count();
    for (unsigned i = 0; i < workers; ++i) timers_.emplace_back(input);
  }

  BoundSums run(const std::vector<std::vector<double>>& excess, double most_excess) && {
    sums_.variables.resize(space_.size());
    if (chain_) shards_.resize(chain_->layers().size());
    parallel_for(space_.size(), limits_.threads,
                 [&](std::size_t v, unsigned worker) { add_variable(v, timers_[worker]); });
    if (!chain_) return std::move(sums_);
    sums_.pairs.resize(space_.size() - 1);
    for (std::size_t v = 0; v + 1 < space_.size(); ++v) add_pairs(v, excess, most_excess);
    add_bucket();
    return std::move(sums_);
  }

 private:
  // Whether the layers of one variable follow one another, and the variables, too.
  bool follows_variables() {
    std::size_t at = 0;
    for (LayerId layer : chain_->layers()) {
      const std::uint32_t variable = space_.variable_of(layer).value();
      if (first_of_.empty() || variable != at) {
        if (variable != first_of_.size()) return false;
        at = variable;
        first_of_.push_back(static_cast<std::size_t>(
            std::find(chain_->layers().begin(), chain_->layers().end(), layer) -
            chain_->layers().begin()));
      }
    }
    first_of_.push_back(chain_->layers().size());
    return first_of_.size() > 2;
  }

  void add_variable(std::size_t v, ShardTimer& timer) {
    if (chain_) {
      for (std::size_t k = first_of_[v]; k < first_of_[v + 1]; ++k) {
        for (const Cut& cut : *space_[v].cuts) {
          throw_if_cancelled(limits_.cancelled);
          shards_[k].push_back(chain_->shards(k, space_.cut_of(chain_->layers()[k], cut), timer));
        }
      }
    }
    for (std::size_t c = 0; c < space_[v].cuts->size(); ++c) {
      throw_if_cancelled(limits_.cancelled);
      BoundTerms terms(sums_.terms);
      for (LayerId layer : space_[v].layers) {
        const Cut cut = space_.cut_of(layer, (*space_[v].cuts)[c]);
        timer.add_seconds(layer, cut, std::span(terms).first(devices_));
        if (links_.empty()) continue;
        const std::span<double> busy = std::span(terms).subspan(devices_, links_.size());
        add_partial_sums(layer, cut, busy);
        if (timer.counts(layer).updates) add_sync(layer, cut, busy);
      }
      if (chain_) add_links_within(v, c, terms);
      sums_.variables[v].push_back(std::move(terms));
    }
  }

  void add_links_within(std::size_t v, std::size_t c, BoundTerms& terms) const {
    if (v == 0) terms[sums_.chain] += chain_->begin(shards_[0][c]);
    for (std::size_t k = first_of_[v] + 1; k < first_of_[v + 1]; ++k) {
      add_link(k, v, c, c, std::span(terms).subspan(devices_));
    }
  }

  // Between a choice of layer k - 1's variable, v, and one of layer k's. `terms`: from the links
  // on.
  void add_link(std::size_t k, std::size_t v, std::size_t earlier, std::size_t later,
                std::span<double> terms) const {
    const Cut cut = space_.cut_of(chain_->layers()[k - 1], (*space_[v].cuts)[earlier]);
    const LayerChain::Link link = chain_->link(k, shards_[k - 1][earlier], cut, shards_[k][later]);
    exchange_->add_loads(link.forward, terms);
    exchange_->add_loads(link.backward, terms);
    terms.back() += link.seconds;
  }

  void add_pairs(std::size_t v, const std::vector<std::vector<double>>& excess,
                 double most_excess) {
    const std::size_t rows = space_[v].cuts->size(), columns = space_[v + 1].cuts->size();
    const std::size_t count = sums_.terms - sums_.paired, k = first_of_[v + 1];
    std::vector<double>& pairs = sums_.pairs[v];
    pairs.resize(rows * columns * count);
    parallel_for(rows, limits_.threads, [&](std::size_t a, unsigned) {
      throw_if_cancelled(limits_.cancelled);
      for (std::size_t b = 0; b < columns; ++b) {
        const std::span<double> terms(pairs.data() + (a * columns + b) * count, count);
        if (excess[v][a] + excess[v + 1][b] <= most_excess) {
          add_link(k, v, a, b, terms);
        } else {
          terms.back() = chain_->computed(k, shards_[k - 1][a], shards_[k][b]);
        }
      }
    });
  }

  void add_partial_sums(LayerId layer, const Cut& cut, std::span<double> busy) const {
    if (cut.degrees.r == 1) return;
    const std::int64_t size = element_bytes(input_.dtypes.values);
    const bool returns = !input_.graph.consumers(layer).empty();
    for (const NeededBox& box : partial_boxes(input_.graph[layer], config_of(cut))) {
      if (box.local()) continue;
      const auto bytes = static_cast<double>(volume(box.box) * size * input_.rounds);
      exchange_->add_load(box.owner(), box.reader(), bytes, busy);
      if (returns && chain_) exchange_->add_load(box.reader(), box.owner(), bytes, busy);
    }
  }

  void add_sync(LayerId layer, const Cut& cut, std::span<double> busy) {
    const auto groups = replica_shards(input_.graph[layer], cut.degrees);
    if (groups.front().size() == 1) return;
    const ShardDevices devices = config_of(cut).devices;
    const Partition parts = partition(input_.graph[layer], cut.degrees);
    for (std::size_t k = 0; k < groups.size(); ++k) {
      const Tile tile = parts.tile(static_cast<std::int64_t>(groups[k].front()));
      const auto bytes =
          static_cast<double>(shard_parameters(input_.graph[layer], tile).total() * least_bytes());
      std::vector<DeviceId> replicas;
      for (const std::uint32_t shard : groups[k]) replicas.push_back(devices[shard]);
      const SyncAlgorithm sync = input_.sync.algorithm;
      if (sync == SyncAlgorithm::ps) {
        const DeviceId server = replicas[server_replica(ordinals_[layer()], k, replicas.size())];
        for (DeviceId replica : replicas) {
          if (replica == server) continue;
          exchange_->add_load(replica(), server(), bytes, busy);
          exchange_->add_load(server(), replica(), bytes, busy);
        }
      } else if (sync != SyncAlgorithm::automatic) {
        // Buckets are of devices in order.
        if (input_.sync.bucket > Bytes{}) std::sort(replicas.begin(), replicas.end());
        add_collective(replicas, bytes, busy);
      }
    }
  }

  void add_collective(const std::vector<DeviceId>& devices, double bytes, std::span<double> busy) {
    for (const CollectivePhase& phase :
         sync_costs_.collective(input_.sync.algorithm, devices).least()) {
      for (const LinkLoad& load : phase.loads) {
        const auto at = std::find(links_.begin(), links_.end(), load.link);
        if (at == links_.end()) continue;
        busy[static_cast<std::size_t>(at - links_.begin())] +=
            phase.bytes_per_byte * bytes * load.demand() /
            input_.cluster[load.link].bandwidth.value;
      }
    }
  }

  // Gradients that every device has a copy of lie in one row of buckets.
  void add_bucket() {
    const SyncAlgorithm sync = input_.sync.algorithm;
    const Bytes capacity = input_.sync.bucket_in_use();
    if (capacity == Bytes{} || sync == SyncAlgorithm::automatic || !one_layer_each()) return;
    std::vector<DeviceId> all;
    for (std::size_t d = 0; d < devices_; ++d) all.push_back(DeviceId(d));
    LastBucket& bucket = sums_.bucket;
    for (const CollectivePhase& phase : sync_costs_.collective(sync, all).least()) {
      double slowest = 0;
      for (const LinkLoad& load : phase.loads) {
        slowest = std::max(slowest, load.demand() / input_.cluster[load.link].bandwidth.value);
      }
      bucket.seconds_per_byte += phase.bytes_per_byte * slowest;
    }
    const auto limit = static_cast<double>(capacity.value);
    bucket.first_limit = std::min(limit, static_cast<double>(kFirstBucket.value));
    double above = 0;  // bytes of layers that do not fill a bucket by themselves
    bucket.variables.resize(space_.size());
    for (std::size_t v = space_.size(); v-- > 0;) {
      LastBucket::Variable& variable = bucket.variables[v];
      variable.bytes = parameter_bytes(v);
      variable.may_fill_later = above + variable.bytes >= limit;
      if (variable.bytes < limit) above += variable.bytes;
      for (const Cut& cut : *space_[v].cuts) {
        variable.on_all.push_back(cut.shards() == static_cast<std::int64_t>(devices_) &&
                                  replicates_parameters(v, cut));
      }
    }
  }

  // Whether every shard has a copy of all that the layers hold.
  bool replicates_parameters(std::size_t v, const Cut& cut) const {
    return std::ranges::all_of(space_[v].layers, [&](LayerId layer) {
      return replica_shards(input_.graph[layer], cut.degrees).size() == 1;
    });
  }

  // Whether no two layers with parameters share a choice: they might be in different buckets.
  bool one_layer_each() const {
    for (std::size_t v = 0; v < space_.size(); ++v) {
      const auto holds = [&](LayerId layer) { return input_.graph[layer].held().total() > 0; };
      const std::vector<LayerId>& layers = space_[v].layers;
      if (std::count_if(layers.begin(), layers.end(), holds) > 1) return false;
    }
    return true;
  }

  // Of a value that is summed or, from a server, brought.
  std::int64_t least_bytes() const {
    return std::min(element_bytes(input_.dtypes.parameters),
                    element_bytes(input_.dtypes.gradients));
  }

  double parameter_bytes(std::size_t v) const {
    std::int64_t elements = 0;
    for (LayerId layer : space_[v].layers) elements += input_.graph[layer].held().total();
    return static_cast<double>(elements * element_bytes(input_.dtypes.parameters));
  }

  const Case& input_;
  const SearchSpace& space_;
  const SolveLimits& limits_;
  const std::size_t devices_;
  const std::vector<std::uint32_t> ordinals_;
  SyncCosts sync_costs_;
  std::optional<ExchangeBound> exchange_;
  std::span<const LinkId> links_;
  std::optional<LayerChain> chain_;
  std::vector<std::size_t> first_of_;             // by variable: its first layer of the chain
  std::vector<std::vector<ChainShards>> shards_;  // by layer of the chain and choice
  std::deque<ShardTimer> timers_;                 // by worker
  BoundSums sums_;
};

}  // namespace

bool has_bound_sums(const Case& input, const SearchSpace& space) {
  const std::size_t devices = input.cluster.device_count();
  if (devices > ExchangeBound::kMostDevices) return false;
  std::size_t shards = 0;
  for (std::size_t v = 0; v < space.size(); ++v) {
    shards += devices * space[v].cuts->size() * space[v].layers.size();
  }
  return shards <= kMostShards;
}

BoundSums bound_sums(const Case& input, const SearchSpace& space,
                     const std::vector<std::vector<double>>& excess, double most_excess,
                     const SolveLimits& limits) {
  return SumsBuilder(input, space, limits).run(excess, most_excess);
}

}  // namespace strata
