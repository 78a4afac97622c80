#include "tests/exec/cpu/layer_on_shards.h"

#include <algorithm>
#include <limits>

#include "exec/cpu/combine.h"
#include "exec/cpu/kernels.h"
#include "sim/graph/regions.h"

namespace strata::cpu {
namespace {

constexpr float kUnwritten = std::numeric_limits<float>::quiet_NaN();
constexpr std::uint64_t kSeed = 7;

std::int64_t place(const reference::Tensor& whole, const Element& at) {
  return whole.index(at[0], at[1], at[2], at[3], at[4]);
}

void fill(Held& to, const reference::Tensor& from) {
  each_element(to.box(),
               [&](const Element& at) { to[at] = static_cast<float>(from[place(from, at)]); });
}

Held filled(const Box& box, const reference::Tensor& from) {
  Held held(box, Values(from.extents));
  fill(held, from);
  return held;
}

void accumulate(reference::Tensor& to, Held& from) {
  each_element(from.box(), [&](const Element& at) { to[place(to, at)] += from[at]; });
  EXPECT_TRUE(from.unused_are_zero()) << "the last block's unused places";
}

/// `box` with up to `by` more on each side of d, h and w.
Box widened(Box box, const Extents& extents, std::int64_t by) {
  for (Dim dim : kSpatialDims) {
    box[dim] = intersect(Interval{box[dim].begin - by, box[dim].end + by}, {0, extents[dim]});
  }
  return box;
}

Combination combination(const Layer& layer, Phase phase) {
  if (std::holds_alternative<SoftmaxCrossEntropy>(layer.op)) return Combination::log_sum_exp;
  return phase == Phase::forward_statistics ? Combination::moments : Combination::sum;
}

/// The sum of both gradients goes to the earlier one.
bool read_before(const Layer& layer, std::size_t input) {
  const auto own = layer.inputs.begin() + static_cast<std::ptrdiff_t>(input);
  return std::holds_alternative<Add>(layer.op) && std::find(layer.inputs.begin(), own, *own) != own;
}

}  // namespace

LayerOnShards::LayerOnShards(const reference::LayerCall& call, const Cut& cut)
    : call_(call),
      cut_(cut),
      phases_(step_phases(*call.graph, call.id, std::vector<bool>(call.graph->size(), true))) {
  const Partition partition(call.layer().output, cut.degrees);
  for (std::int64_t k = 0; k < partition.shard_count(); ++k) add_shard(partition.box(k));
}

void LayerOnShards::add_shard(const Box& box) {
  Shard& shard = shards_.emplace_back();
  shard.box = box;
  for (std::size_t k = 0; k < call_.inputs.size(); ++k) {
    std::vector<Box> needed = needed_input(*call_.graph, call_.id, k, box);
    if (needed.empty()) needed.emplace_back();
    for (const Box& part : needed) add_input(shard, k, part);
  }
  shard.output = std::make_unique<Held>(box);
  shard.output_gradient = std::make_unique<Held>(box);
  load_parameters(shard);
  const Statistics sums = statistics(call_.layer(), box);
  const std::int64_t values = std::max(sums.forward_values, sums.backward_values);
  shard.statistics.assign(static_cast<std::size_t>(values), kUnwritten);
  shard.kernel = make_kernel(spec_of(shard));
}

void LayerOnShards::add_input(Shard& shard, std::size_t input, const Box& needed) {
  const reference::Tensor& whole = *call_.inputs[input];
  const Box box = empty(needed) ? Box{} : widened(needed, whole.extents, cut_.wider);
  shard.inputs.push_back(filled(box, whole));
  shard.input_gradients.emplace_back(box);
  shard.input_of.push_back(input);
}

ShardSpec LayerOnShards::spec_of(const Shard& shard) const {
  ShardSpec spec;
  spec.graph = call_.graph;
  spec.layer = call_.id;
  spec.output = shard.box;
  spec.inputs.resize(call_.inputs.size());
  for (std::size_t k = 0; k < shard.inputs.size(); ++k) {
    spec.inputs[shard.input_of[k]].push_back(shard.inputs[k].box());
  }
  spec.seed = kSeed;
  return spec;
}

/// The leading dim of either tensor is the channel.
Interval LayerOnShards::parameters_of(const Shard& shard, std::int64_t size) const {
  const std::int64_t each = size / call_.layer().output[Dim::c];
  return {shard.box[Dim::c].begin * each, shard.box[Dim::c].end * each};
}

void LayerOnShards::load_parameters(Shard& shard) const {
  for (const std::vector<double>* part : {&call_.weights->weight, &call_.weights->bias}) {
    const Interval run = parameters_of(shard, static_cast<std::int64_t>(part->size()));
    shard.parameters.insert(shard.parameters.end(), part->begin() + run.begin,
                            part->begin() + run.end);
  }
  shard.parameter_gradients.assign(shard.parameters.size(), kUnwritten);
}

std::vector<LayerOnShards::Shard*> LayerOnShards::group_of(const Shard& shard) {
  const PerDim<bool> over = statistics(call_.layer(), shard.box).over;
  std::vector<Shard*> group;
  for (Shard& other : shards_) {
    const bool same = std::all_of(kDims.begin(), kDims.end(), [&](Dim dim) {
      return over[dim] || other.box[dim] == shard.box[dim];
    });
    if (same) group.push_back(&other);
  }
  return group;
}

bool LayerOnShards::gives_gradient(const Shard& shard, std::size_t box) const {
  return !read_before(call_.layer(), shard.input_of[box]);
}

void LayerOnShards::run(Phase phase, Shard& shard) const {
  std::vector<Region> inputs, gradients;
  for (std::size_t k = 0; k < shard.inputs.size(); ++k) {
    inputs.push_back(shard.inputs[k].region());
    gradients.push_back(gives_gradient(shard, k) ? shard.input_gradients[k].region() : Region{});
  }
  StepContext step;
  step.labels = call_.labels;
  Operands operands;
  operands.inputs = inputs;
  operands.output = cut_.in_place ? inputs[0] : shard.output->region();
  operands.statistics = shard.statistics.data();
  operands.parameters = shard.parameters.data();
  operands.loss = &shard.loss;
  operands.step = &step;
  if (phase > Phase::forward) {
    operands.output_gradient = cut_.in_place ? gradients[0] : shard.output_gradient->region();
  }
  if (phase == Phase::backward_data) operands.input_gradients = gradients;
  if (phase == Phase::backward_weights || phase == Phase::backward_statistics) {
    operands.parameter_gradients = shard.parameter_gradients.data();
  }
  shard.kernel->run(phase, operands);
}

void LayerOnShards::run(Phase phase) {
  if (!phases_[phase]) return;
  for (Shard& shard : shards_) run(phase, shard);
  const bool exchanges = phase == Phase::forward_statistics || phase == Phase::backward_statistics;
  if (exchanges) combine_statistics(phase);
}

void LayerOnShards::combine_statistics(Phase phase) {
  std::vector<std::vector<float>> combined;
  for (const Shard& shard : shards_) {
    std::vector<const float*> parts;
    std::vector<std::int64_t> counts;
    for (const Shard* other : group_of(shard)) {
      parts.push_back(other->statistics.data());
      counts.push_back(volume(other->box) / other->box[Dim::c].size());
    }
    combined.push_back(shard.statistics);
    combine(combination(call_.layer(), phase), combined.back().data(), parts, counts, 0,
            static_cast<std::int64_t>(shard.statistics.size()));
  }
  for (std::size_t k = 0; k < shards_.size(); ++k) shards_[k].statistics = combined[k];
}

reference::Tensor LayerOnShards::forward() {
  for (Shard& shard : shards_) shard.loss = {};
  run(Phase::forward_statistics);
  run(Phase::forward);
  reference::Tensor whole(call_.layer().output);
  for (Shard& shard : shards_) {
    accumulate(whole, cut_.in_place ? shard.inputs[0] : *shard.output);
  }
  return whole;
}

LossPart LayerOnShards::loss() const {
  LossPart sum;
  for (const Shard& shard : shards_) {
    sum.loss += shard.loss.loss;
    sum.correct += shard.loss.correct;
  }
  return sum;
}

reference::Gradients LayerOnShards::backward(const reference::Tensor& output_gradient) {
  for (Shard& shard : shards_) {
    Held& to = cut_.in_place ? shard.input_gradients[0] : *shard.output_gradient;
    to = filled(shard.box, output_gradient);
  }
  run(Phase::backward_statistics);
  run(Phase::backward_weights);
  run(Phase::backward_data);
  reference::Gradients sum;
  for (const reference::Tensor* input : call_.inputs) sum.inputs.emplace_back(input->extents);
  sum.weights.weight.resize(call_.weights->weight.size());
  sum.weights.bias.resize(call_.weights->bias.size());
  for (Shard& shard : shards_) {
    add_input_gradients(shard, sum.inputs);
    add_parameter_gradients(shard, sum.weights);
  }
  return sum;
}

void LayerOnShards::add_input_gradients(Shard& shard, std::vector<reference::Tensor>& sums) const {
  for (std::size_t k = 0; k < shard.inputs.size(); ++k) {
    if (gives_gradient(shard, k)) accumulate(sums[shard.input_of[k]], shard.input_gradients[k]);
  }
}

void LayerOnShards::add_parameter_gradients(const Shard& shard, reference::Weights& sums) const {
  std::size_t next = 0;
  for (std::vector<double>* sum : {&sums.weight, &sums.bias}) {
    const Interval run = parameters_of(shard, static_cast<std::int64_t>(sum->size()));
    for (std::int64_t i = run.begin; i < run.end; ++i) {
      (*sum)[static_cast<std::size_t>(i)] += shard.parameter_gradients[next++];
    }
  }
}

}  // namespace strata::cpu
