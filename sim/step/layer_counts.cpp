#include "sim/step/layer_counts.h"

#include <variant>

namespace strata {
namespace {

/// A reader of one round's actions.
struct Counter {
  const Graph& graph;
  const Step& step;
  std::vector<LayerCounts>& counts;
  bool again = false;  ///< for a backward pass

  LayerCounts& of(LayerId layer) { return counts[layer()]; }

  void operator()(const Read& read) {
    if (!again && read.from == ReadFrom::producer) of(read.layer).reads[read.input] = true;
  }
  void operator()(const Compute& compute) {
    LayerCounts& own = of(compute.layer);
    ++own.computed[static_cast<std::size_t>(compute.phase)];
    if (compute.and_weights) ++own.computed[static_cast<std::size_t>(Phase::backward_weights)];
  }
  void operator()(const SumStatistics& sum) { of(sum.layer).sums_statistics.add(sum.phase, true); }
  void operator()(const SumOutputGradient& sum) {
    of(sum.layer).spreads_gradient = !step[sum.layer].whole_gradient;
  }
  void operator()(const ReturnGradient& back) {
    const LayerId producer = graph[back.layer].inputs[back.input];
    of(back.layer).returns[back.input] = !step[producer].whole_gradient;
  }
  void operator()(const UpdateLayer& update) { of(update.layer).updates = true; }
  void operator()(const UpdateBucket& update) { update_all(update.bucket); }
  void operator()(const UpdateInterval& update) { update_all(update.bucket); }

  // Shards that compute terms always sum them; the others move what parameters need, or keep.
  void operator()(const SumPartialOutputs& /*unused*/) {}
  void operator()(const GatherParameters& /*unused*/) {}
  void operator()(const Forget& /*unused*/) {}
  void operator()(const PutTogetherAgain& /*unused*/) {}
  void operator()(const GatherInputsAgain& /*unused*/) {}
  void operator()(const SumGradients& /*unused*/) {}
  void operator()(const ReduceScatter& /*unused*/) {}
  void operator()(const SumIntervals& /*unused*/) {}
  void operator()(const GatherUpdated& /*unused*/) {}
  void operator()(const SumGradientNorm& /*unused*/) {}

  void update_all(std::uint32_t bucket) {
    for (const BucketPart& part : step.buckets[bucket].parts) {
      of(part.layer).updates = true;
      for (const BucketPart::Copy& copy : part.copies) of(copy.layer).updates = true;
    }
  }
};

}  // namespace

std::vector<LayerCounts> count_actions(const Graph& graph, const Step& step) {
  std::vector<LayerCounts> counts(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    counts[i].reads.resize(graph[LayerId(i)].inputs.size());
    counts[i].returns.resize(graph[LayerId(i)].inputs.size());
  }
  Counter counter{graph, step, counts};
  for (const Action& action : step.actions) {
    if (action.round > 0 && !action.ends_rounds()) continue;
    counter.again = action.again_for.valid();
    std::visit(counter, action.work);
  }
  return counts;
}

std::vector<LayerCounts> count_actions(const Graph& graph, const KernelTraits& kernels,
                                       const Segments& segments) {
  const std::vector<Config> configs(graph.size(), config_on_first_devices(kWhole));
  StepOptions options;
  options.kernels = kernels;
  return count_actions(graph,
                       make_step(graph, Strategy("one device", configs).with(segments), options));
}

}  // namespace strata
