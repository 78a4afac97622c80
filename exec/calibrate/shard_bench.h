#pragma once

// One shard's kernel with memory of its own, as it would find it in a step: what the step has just
// made (the input forward, the gradient backward) was written a moment ago, everything else was
// last touched a sweep ago. Of one device, used by its thread alone.

#include <memory>
#include <span>
#include <vector>

#include "exec/runtime/backend.h"
#include "sim/base/units.h"

namespace strata {

class ShardBench {
 public:
  /// Backend and graph must outlive it. `optimizer`: of its update.
  ShardBench(Backend& backend, DeviceId device, const Graph& graph, LayerId layer,
             const Tile& output, Optimizer optimizer);
  ~ShardBench();
  ShardBench(const ShardBench&) = delete;
  ShardBench& operator=(const ShardBench&) = delete;

  /// The phases of a pass, in their order.
  static std::span<const Phase> phases(bool forward);

  /// What it takes from the beginning of the forward pass to end(), and for good; of the latter a
  /// guess, as only kernels know what they keep.
  static Bytes bytes_of_step(const Backend& backend, const Graph& graph, LayerId layer,
                             const Tile& output);
  static Bytes lasting_bytes(const Graph& graph, LayerId layer, const Tile& output,
                             Optimizer optimizer);

  void begin_forward();
  void begin_backward();
  /// One run of the phase.
  void run(Phase phase);
  /// Gives the step's memory back.
  void end();

 private:
  Region take(const Box& box);
  void write(const Region& region);
  float* make_lasting(std::int64_t count);
  void make_state();
  float* take_values(std::int64_t count);

  Backend& backend_;
  DeviceId device_;
  ShardSpec spec_;
  Optimizer optimizer_;
  bool in_place_ = false;
  std::unique_ptr<Kernel> kernel_;
  std::vector<void*> lasting_, of_step_;
  std::vector<Region> inputs_, input_gradients_;
  Region output_, output_gradient_;
  float *parameters_ = nullptr, *gradients_ = nullptr, *state_ = nullptr, *statistics_ = nullptr;
  void* saved_ = nullptr;
  std::int64_t parameter_count_ = 0;
  std::vector<std::int64_t> labels_;
  std::vector<float> numbers_;  ///< that an embedding reads
};

}  // namespace strata
