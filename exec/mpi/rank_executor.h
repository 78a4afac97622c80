#pragma once

// An Executor whose devices are processes: rank r of the World holds and runs device r, and MPI
// carries what the plan moves between devices. Losses, weights and gradients are those of one
// process, to the bit. Every rank makes the same calls in the same order (of set_parameters(), each
// takes what is its device's) and gets the same answers. Not thread-safe.

#include <memory>
#include <span>
#include <vector>

#include "exec/mpi/world.h"
#include "exec/runtime/executor.h"

namespace strata::mpi {

class Messages;

/// A peer may work on one task for as long; a dead one is noticed at once by mpirun.
inline constexpr Seconds kPatience{300};

class RankExecutor {
 public:
  /// All must outlive it. Throws EnvironmentError, also where the plan has another number of
  /// devices than the world has ranks.
  RankExecutor(const World& world, const Graph& graph, const Plan& plan, Backend& backend,
               const ExecutionOptions& options = {}, Seconds patience = kPatience);
  ~RankExecutor();

  void set_parameters(LayerId layer, std::span<const float> whole);
  /// Throws EnvironmentError where replicas on different ranks hold different values.
  std::vector<float> parameters(LayerId layer) const;
  std::vector<float> gradients(LayerId layer) const;

  /// `cancelled` is looked at before the first step alone: ranks can only stop together. An Error
  /// names the task and the device; the other ranks then wait for this one, so abort the world.
  Execution run(std::size_t steps, const BatchOf& batch_of,
                const std::atomic<bool>* cancelled = nullptr);

 private:
  const World& world_;
  const Graph& graph_;
  const Plan& plan_;
  Backend& backend_;
  Seconds patience_;
  std::unique_ptr<Messages> messages_;
  Executor executor_;
};

}  // namespace strata::mpi
