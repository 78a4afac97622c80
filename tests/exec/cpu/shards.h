#pragma once

// A layer of random shape, cut as a network would be cut, and its kernel's phases on memory that
// begins as NaN. A referee computes the whole layer in double precision from the same values; each
// shard must agree with its part.

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exec/cpu/kernels.h"
#include "exec/runtime/kernel.h"
#include "sim/graph/graph.h"
#include "sim/graph/regions.h"
#include "tests/exec/cpu/tensors.h"

namespace strata::cpu {

/// Inputs (batch and all) and one layer that reads them in order, or as `reads` says.
struct LayerCase {
  LayerCase(const Op& op, const std::vector<Extents>& inputs,
            const std::vector<std::size_t>& reads = {})
      : graph(build(op, inputs, reads)), layer(graph.size() - 1) {}

  const Layer& operator*() const { return graph[layer]; }
  const Extents& output() const { return graph[layer].output; }
  const Extents& input(std::size_t k) const { return graph[graph[layer].inputs[k]].output; }

  static Graph build(const Op& op, const std::vector<Extents>& inputs,
                     const std::vector<std::size_t>& reads) {
    GraphBuilder builder("case", inputs[0][Dim::n]);
    std::vector<LayerId> ids, read;
    for (Extents e : inputs) {
      e[Dim::n] = 1;
      ids.push_back(builder.add("in" + std::to_string(ids.size()), Input{e}, {}));
    }
    for (std::size_t k = 0; reads.empty() && k < ids.size(); ++k) read.push_back(ids[k]);
    for (std::size_t k : reads) read.push_back(ids[k]);
    builder.add("layer", op, read);
    return std::move(builder).build();
  }

  Graph graph;
  LayerId layer;
};

/// One shard's kernel and all the memory that it works on.
class Shard {
 public:
  Shard(const LayerCase& of, const Box& output, bool training = true)
      : spec_{&of.graph, of.layer, output, {}, training, 5}, output_(output), gradient_(output) {
    for (std::size_t k = 0; k < (*of).inputs.size(); ++k) {
      std::vector<Box> boxes = needed_input(of.graph, of.layer, k, output);
      if (boxes.empty()) boxes.emplace_back();
      spec_.inputs.push_back(std::move(boxes));
    }
    const Parameters held = shard_parameters(*of, output);
    parameters_.resize(static_cast<std::size_t>(held.total()));
    parameter_gradients.assign(parameters_.size(), std::numeric_limits<float>::quiet_NaN());
    const Statistics sums = strata::statistics(*of, output);
    statistics.resize(static_cast<std::size_t>(std::max(sums.forward_values, sums.backward_values)),
                      std::numeric_limits<float>::quiet_NaN());
    const Saved kept = strata::saved((*of).op, {output, {}, DType::fp32});
    saved_.resize(
        static_cast<std::size_t>(kept.each_element ? padded_size(extents(output)) : kept.values));
  }

  const ShardSpec& spec() const { return spec_; }
  const Box& box() const { return spec_.output; }

  /// Of the whole inputs, in the layer's order; makes the kernel.
  void give(const std::vector<Values>& inputs) {
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      for (const Box& box : spec_.inputs[k]) {
        inputs_.emplace_back(box, inputs[k]);
        input_gradients_.emplace_back(box);
      }
    }
    kernel_ = make_kernel(spec_);
  }
  void give_gradient(const Values& gradient) { gradient_ = Held(box(), gradient); }
  /// The layer's output takes its input's place, and the gradients theirs.
  void work_in_place() { in_place_ = true; }

  void run(Phase phase) {
    std::vector<Region> inputs, gradients;
    for (Held& input : inputs_) inputs.push_back(region_of(input));
    for (Held& gradient : input_gradients_) gradients.push_back(region_of(gradient));
    Operands operands;
    operands.inputs = inputs;
    operands.input_gradients = gradients;
    operands.output = in_place_ ? inputs[0] : output_.region();
    operands.output_gradient = gradient_.region();
    if (in_place_) gradients[0] = operands.output_gradient;
    operands.parameters = parameters_.data();
    operands.parameter_gradients = parameter_gradients.data();
    operands.statistics = statistics.data();
    operands.saved = saved_.data();
    operands.loss = &loss;
    operands.step = &step;
    kernel_->run(phase, operands);
  }

  Held& output() { return in_place_ ? inputs_[0] : output_; }
  /// Of the boxes of all inputs, flat.
  Held& input_gradient(std::size_t k) { return in_place_ ? gradient_ : input_gradients_[k]; }
  std::size_t input_regions() const { return inputs_.size(); }
  std::vector<float>& parameters() { return parameters_; }

  std::vector<float> parameter_gradients, statistics;
  LossPart loss;
  StepContext step;

 private:
  static Region region_of(Held& held) {
    return empty(held.box()) ? Region{nullptr, held.box()} : held.region();
  }

  ShardSpec spec_;
  std::unique_ptr<Kernel> kernel_;
  std::vector<Held> inputs_, input_gradients_;
  Held output_, gradient_;
  std::vector<float> parameters_, saved_;
  bool in_place_ = false;
};

/// Some shards that together are the layer's output: up to three parts in each dim.
inline std::vector<Box> pick_cut(Random& random, const Extents& extents) {
  Degrees degrees;
  for (Dim dim : kDims) {
    degrees[dim] = static_cast<std::int32_t>(
        pick(random, 0, 1) == 0 ? 1 : pick(random, 1, std::min<std::int64_t>(3, extents[dim])));
  }
  const Partition partition(extents, degrees);
  std::vector<Box> boxes;
  for (std::int64_t k = 0; k < partition.shard_count(); ++k) boxes.push_back(partition.box(k));
  return boxes;
}

/// Extents at random: batch 1 to 3, channels around the sizes of blocks, sides up to `side`.
inline Extents pick_extents(Random& random, std::int64_t side = 7) {
  const std::int64_t most = pick(random, 0, 1) == 0 ? 4 : 35;
  return {{pick(random, 1, 3), pick(random, 1, most), pick(random, 1, 2), pick(random, 1, side),
           pick(random, 1, side)}};
}

}  // namespace strata::cpu
