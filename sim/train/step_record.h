#pragma once

// What the shards of a network held in one step: their parameters, outputs and gradients, on the
// host. While a plan runs, the threads of all devices write to it; it is read when none does.

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <tuple>
#include <vector>

#include "sim/graph/graph.h"
#include "sim/plan/plan.h"
#include "sim/timeline/execution.h"

namespace strata {

class StepRecord : public TensorObserver {
 public:
  struct Part {
    std::uint32_t shard = 0;
    std::vector<float> values;
  };

  bool see(const TensorKey& tensor, std::uint32_t shard, std::span<float> values) override;

  /// The gradients of a layer's parameters, of which each replica has an interval alone (ZeRO) and
  /// no shard shows its own: put together, weight, then bias.
  void add_gradients(LayerId layer, std::vector<float> whole);

  /// By shard; none where nothing was seen.
  const std::vector<Part>& parts(const TensorKey& tensor) const;
  /// What add_gradients() was given, of a tensor of which no shard was seen; else nothing.
  std::span<const float> whole(const TensorKey& tensor) const;
  bool empty() const { return parts_.empty(); }
  void clear() { parts_.clear(), gradients_.clear(); }

 private:
  std::mutex mutex_;
  std::map<TensorKey, std::vector<Part>> parts_;
  std::map<LayerId, std::vector<float>> gradients_;
};

/// Memory of it, at most.
Bytes record_bytes(const Graph& graph, const Plan& plan);

}  // namespace strata
