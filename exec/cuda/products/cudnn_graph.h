#pragma once

// A thin layer over cuDNN's backend API: one convolution as an operation graph, the engines that
// its heuristics propose, and plans made of them. Plans are for a GPU that is there, or offline
// for one that is only described. Not thread-safe.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exec/cuda/device/device.h"
#include "exec/cuda/products/cudnn_descriptor.h"
#include "exec/cuda/products/products.h"

namespace strata::cuda {

/// Which GPU plans are for.
class PlanTarget {
 public:
  /// The GPU that was the thread's when the handle was made.
  PlanTarget(const Cudnn& cudnn, cudnnHandle_t handle) : cudnn_(&cudnn), handle_(handle) {}
  /// One that need not be there: of compute capability 7.5 or more. Its plans can't be run.
  PlanTarget(const Cudnn& cudnn, const Gpu& described);

  const Cudnn& cudnn() const { return *cudnn_; }
  void aim_graph(Descriptor& graph) const;
  void aim_heuristics(Descriptor& heuristics) const;
  void aim_engine(Descriptor& engine) const;
  void aim_plan(Descriptor& plan) const;

 private:
  const Cudnn* cudnn_;
  cudnnHandle_t handle_ = nullptr;
  std::optional<Descriptor> described_;
};

/// An engine with its knobs turned, in the library's order of merit.
struct PlanCandidate {
  std::string name;  ///< "67 2=1 13=0": the engine's number and its knobs, for this library version
  Descriptor config;
  std::vector<Descriptor> parts = {};  ///< that the config was made of, where it is no proposal
};

class ConvolutionPlan {
 public:
  ConvolutionPlan(PlanCandidate candidate, Descriptor plan);

  std::int64_t workspace() const { return workspace_; }
  /// Its memory is aligned to 16 bytes at least.
  void run(cudnnHandle_t handle, const ConvolutionMemory& memory) const;
  cudnnStatus_t try_to_run(cudnnHandle_t handle, const ConvolutionMemory& memory) const;

 private:
  PlanCandidate candidate_;
  Descriptor plan_;
  std::int64_t workspace_;
};

/// What the heuristics propose, and the status with which they did.
struct Proposals {
  std::vector<PlanCandidate> candidates;
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
};

/// What became of a candidate.
struct Planned {
  std::optional<ConvolutionPlan> plan;  ///< nothing where the engine refuses after all, or breaks
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
};

class ConvolutionGraph {
 public:
  ConvolutionGraph(const PlanTarget& target, const ConvolutionShape& shape, Direction direction,
                   Precision precision);

  /// Engines that compute as the precision promises, always the same way. CUDNN_HEUR_MODE_A: the
  /// heuristics' own choice; CUDNN_HEUR_MODE_FALLBACK: others that might do.
  Proposals proposals(cudnnBackendHeurMode_t mode) const;
  /// The one of this name, without asking the heuristics, which take their time. Nothing where the
  /// name means nothing, or the library has no such engine that computes as the precision promises.
  std::optional<PlanCandidate> candidate(std::string_view name) const;
  Planned plan(PlanCandidate candidate) const;

 private:
  const PlanTarget& target_;
  Precision precision_;
  std::vector<Descriptor> parts_;  // of the operation, which comes last
  Descriptor graph_;
};

/// How the library wants a GPU to be described.
std::string device_properties(const Gpu& gpu);

}  // namespace strata::cuda
