// What replicas share instead of each having all of it (ZeRO): of a bucket of parameters, each
// keeps an interval of the optimizer's state, then of the gradients, then of the parameters
// themselves. What a replica updates, it updates itself, or its host does. A sum over replicas
// comes apart into its halves, with the update of the intervals between them, or with a gather of
// the parameters before each pass that reads them.

#include "sim/base/error.h"
#include "sim/step/passes.h"
#include "sim/step/shard_groups.h"

namespace strata {
namespace {

void check_offload(const GradientSync& sync) {
  if (!sync.updates_on_host() || sync.algorithm != SyncAlgorithm::ps) return;
  throw InputError(
      "`offload` optimizer has each replica's host update the parameters, which `sync` ps leaves "
      "to one replica; allowed: `sync` ring, tree, hierarchical or auto");
}

void check_norm(const StepOptions& options) {
  if (!options.kernels.updates_wait() || !options.sync.may_serve()) return;
  throw InputError(
      "`set` gradient.clip=norm and gradient.unscale=pass have all updates wait for all gradients, "
      "but a parameter server (`sync` ps, or auto with `bucket` 0) updates as they arrive; "
      "allowed: "
      "`sync` ring, tree or hierarchical, or a bucket");
}

}  // namespace

ReplicaSums::ReplicaSums(const StepInProgress& to)
    : to_(to), buckets_with_(to.graph.size()), rounds_left_(to.graph.size()) {
  check_offload(to.options.sync);
  check_norm(to.options);
  for (std::uint32_t b = 0; b < to.step.buckets.size(); ++b) {
    std::size_t& left = parts_left_.emplace_back();
    for (const BucketPart& part : to.step.buckets[b].parts) {
      buckets_with_[part.layer()].push_back(b);
      for (const BucketPart::Copy& copy : part.copies) buckets_with_[copy.layer()].push_back(b);
      left += 1 + part.copies.size();
    }
  }
  for (const StepLayer& layer : to.step.layers) rounds_left_[layer.holder()] += to.options.rounds;
  if (to.options.sync.zero >= Zero::gradients) {
    of_round_.resize(to.options.rounds, {parts_left_, std::vector<std::uint32_t>(to.graph.size())});
    for (RoundLeft& left : of_round_) {
      for (const StepLayer& layer : to.step.layers) ++left.layers[layer.holder()];
    }
  }
}

void ReplicaSums::add(LayerId layer, std::uint32_t round) {
  const LayerId holder = to_.step[layer].holder;
  const bool trains = to_.step[holder].trains;
  if (!of_round_.empty() && trains) reduce_round(holder, round);
  if (--rounds_left_[holder()] == 0 && trains) add_sums(holder, round);
}

void ReplicaSums::reduce_round(LayerId holder, std::uint32_t round) {
  RoundLeft& left = of_round_[round];
  if (--left.layers[holder()] > 0) return;
  for (const std::uint32_t b : buckets_with_[holder()]) {
    if (!shares_gradients(to_.options.sync, to_.step.buckets[b])) continue;
    if (--left.parts[b] == 0) to_.add(ReduceScatter{b}, round);
  }
}

void ReplicaSums::add_sums(LayerId holder, std::uint32_t round) {
  const bool on_host = to_.options.sync.updates_on_host();
  const auto replicas = replica_shards(to_.graph[holder], to_.strategy[holder].degrees);
  if (replicas.front().size() == 1 && !to_.step[holder].copied) {
    return update(UpdateLayer{holder, on_host}, round);
  }
  std::vector<std::uint32_t> ended;  // buckets of which these gradients are the last ones
  for (const std::uint32_t b : buckets_with_[holder()]) {
    if (--parts_left_[b] == 0) ended.push_back(b);
  }
  if (ended.empty()) return;
  if (to_.options.sync.shares()) {
    for (const std::uint32_t b : ended) {
      const Bucket& bucket = to_.step.buckets[b];
      if (!shares_gradients(to_.options.sync, bucket)) to_.add(ReduceScatter{b}, round);
      const std::uint32_t last = bucket.first_alike + bucket.alike - 1;
      if (b != last) continue;
      if (bucket.alike > 1) to_.add(SumIntervals{bucket.first_alike, bucket.alike}, round);
      for (std::uint32_t k = bucket.first_alike; k <= last; ++k) {
        update(UpdateInterval{k, on_host}, round);
      }
    }
    return;
  }
  auto& all = to_.step.summed_at_once;
  const auto first = static_cast<std::uint32_t>(all.size());
  all.insert(all.end(), ended.begin(), ended.end());
  const auto last = static_cast<std::uint32_t>(all.size());
  for (const std::uint32_t b : ended) {
    to_.add(SumGradients{b, first, last}, round);
    update(UpdateBucket{b, on_host}, round);
  }
}

void ReplicaSums::update(const Work& work, std::uint32_t round) {
  if (!to_.step.in_turn && !to_.options.kernels.updates_wait()) return to_.add(work, round);
  late_.push_back(work);
}

// Parameters are gathered at the end of the step, when no sum waits behind it, and as the next
// step's forward pass needs them.
void ReplicaSums::add_end(std::uint32_t round) {
  if (to_.options.kernels.updates_wait()) to_.add(SumGradientNorm{}, round);
  for (const Work& work : late_) to_.add(work, round);
  if (!to_.options.sync.shares()) return;
  for (auto b = static_cast<std::uint32_t>(to_.step.buckets.size()); b-- > 0;) {
    if (to_.step.buckets[b].frozen) continue;
    if (shares_parameters(to_.options.sync, to_.step.buckets[b])) continue;
    to_.add(GatherUpdated{b}, round);
  }
}

}  // namespace strata
