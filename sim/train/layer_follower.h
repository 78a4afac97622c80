#pragma once

// One device that follows what a plan's shards did: where it has made a tensor, it compares it with
// theirs and goes on from theirs. Internal to sim/study.

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "sim/train/layer_check.h"
#include "sim/train/step_record.h"

namespace strata {

/// A tensor that differs by more than the tolerance.
struct Doubt {
  TensorKey key;
  TensorDifference difference;
  double length = 0;         ///< what the difference is relative to
  std::vector<float> whole;  ///< as the one device made it
};

class Follower : public TensorObserver {
 public:
  /// `record`: the step's, of the shards of `plan`.
  Follower(const Graph& graph, const Plan& plan, const StepRecord& record)
      : graph_(graph), plan_(plan), record_(record) {}

  void begin(std::size_t step) { step_ = step; }
  bool see(const TensorKey& key, std::uint32_t shard, std::span<float> values) override;

  std::vector<Doubt> take_doubts() { return std::exchange(doubts_, {}); }
  /// How many of them it has compared.
  std::size_t layers() const { return layers_.size(); }
  /// Of what is within the tolerance, the nearest to it.
  const TensorDifference& largest() const { return largest_; }

 private:
  void compare(TensorKey key, std::span<const float> values);
  void compare_replicas(LayerId layer);

  const Graph& graph_;
  const Plan& plan_;
  const StepRecord& record_;
  std::size_t step_ = 0;
  std::set<LayerId> layers_;
  std::vector<Doubt> doubts_;
  TensorDifference largest_;
};

/// The same from values one unit in the last place away, to see how far that takes a layer.
class NudgedFollower : public TensorObserver {
 public:
  NudgedFollower(const Graph& graph, const Plan& plan, const StepRecord& record)
      : graph_(graph), plan_(plan), record_(record) {}

  void look_at(std::span<const Doubt> doubts);
  bool see(const TensorKey& key, std::uint32_t shard, std::span<float> values) override;
  /// From what the device made of exact values, over the doubt's length; 0 for parameters.
  double moved(const Doubt& doubt) const;

 private:
  const Graph& graph_;
  const Plan& plan_;
  const StepRecord& record_;
  std::map<TensorKey, const Doubt*> doubts_;
  std::map<TensorKey, double> moved_;
};

}  // namespace strata
