#include "tests/exec/shards/layer_on_shards.h"

#include <algorithm>
#include <bit>

#include "sim/graph/parameter_rows.h"
#include "sim/graph/regions.h"

namespace strata::shards {
namespace {

// No number in whatever type an element has.
const float kUnwritten = std::bit_cast<float>(0xFFFFFFFFU);
// What gradients are added to.
constexpr float kBefore = 0.5F;

std::vector<float> floats(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

template <class Visit>
void each_place(const Extents& whole, const Box& box, const Visit& visit) {
  for (std::int64_t n = box[Dim::n].begin; n < box[Dim::n].end; ++n)
    for (std::int64_t c = box[Dim::c].begin; c < box[Dim::c].end; ++c)
      for (std::int64_t d = box[Dim::d].begin; d < box[Dim::d].end; ++d)
        for (std::int64_t h = box[Dim::h].begin; h < box[Dim::h].end; ++h)
          for (std::int64_t w = box[Dim::w].begin; w < box[Dim::w].end; ++w) {
            const std::int64_t plane = n * whole[Dim::c] + c;
            visit(((plane * whole[Dim::d] + d) * whole[Dim::h] + h) * whole[Dim::w] + w);
          }
}

/// `box` with up to `by` more on each side of d, h and w.
Box widened(Box box, const Extents& extents, std::int64_t by) {
  for (Dim dim : kSpatialDims) {
    box[dim] = intersect(Interval{box[dim].begin - by, box[dim].end + by}, {0, extents[dim]});
  }
  return box;
}

Combination combination(const Layer& layer, Phase phase) {
  if (phase != Phase::forward_statistics) return Combination::sum;
  return statistics(layer, whole(layer.output)).forward_by;
}

}  // namespace

LayerOnShards::LayerOnShards(Site& site, const reference::LayerCall& call, const Cut& cut)
    : site_(site),
      backend_(site.backend()),
      call_(call),
      cut_(cut),
      phases_(step_phases(*call.graph, call.id, std::vector<bool>(call.graph->size(), true))) {
  step_.labels = call.labels;
  const Partition shards = partition(call.layer(), cut.degrees);
  for (std::int64_t k = 0; k < shards.shard_count(); ++k) add_shard(shards.tile(k));
}

void LayerOnShards::add_shard(const Tile& box) {
  Shard& shard = shards_.emplace_back();
  shard.box = box;
  shard.device = DeviceId((shards_.size() - 1) % backend_.device_count());
  site_.enter(shard.device);
  for (std::size_t k = 0; k < call_.inputs.size(); ++k) {
    std::vector<Box> needed = needed_input(*call_.graph, call_.id, k, box);
    if (needed.empty()) needed.emplace_back();
    for (const Box& part : needed) add_input(shard, k, part);
  }
  shard.output = hold(shard, box);
  shard.output_gradient = hold(shard, box);
  const std::int64_t parameters = shard_parameters(call_.layer(), box).total();
  shard.parameters = hold(shard, parameters);
  shard.parameter_gradients = hold(shard, parameters);
  const Statistics sums = statistics(call_.layer(), box);
  shard.statistics = hold(shard, std::max(sums.forward_values, sums.backward_values));
  shard.combined = hold(shard, shard.statistics.count);
  shard.saved = hold(shard, backend_.saved_bytes(call_.layer(), box) / 4);
  shard.loss = backend_.host_memory(sizeof(LossPart));
  shard.kernel = backend_.make_kernel(shard.device, spec_of(shard));
}

void LayerOnShards::add_input(Shard& shard, std::size_t input, const Box& needed) {
  const Extents& whole = call_.inputs[input]->extents;
  const Box box = empty(needed) ? Box{} : widened(needed, whole, cut_.wider);
  shard.inputs.push_back(hold(shard, box));
  shard.input_gradients.push_back(hold(shard, box));
  shard.input_of.push_back(input);
}

Region LayerOnShards::hold(Shard& shard, const Box& box) {
  if (empty(box)) return {nullptr, box};
  const std::int64_t size = sizeof(float), bytes = (backend_.bytes(box) + size - 1) / size * size;
  return {hold(shard, bytes / size).data, box};
}

LayerOnShards::Values LayerOnShards::hold(Shard& shard, std::int64_t count) {
  if (count == 0) return {};
  void* const memory = backend_.allocate(shard.device, count * std::int64_t{sizeof(float)});
  shard.memory.emplace_back(memory, [&backend = backend_, device = shard.device](void* held) {
    backend.release(device, held);
  });
  return {static_cast<float*>(memory), count};
}

ShardSpec LayerOnShards::spec_of(const Shard& shard) const {
  ShardSpec spec;
  spec.graph = call_.graph;
  spec.layer = call_.id;
  spec.output = shard.box;
  spec.inputs.resize(call_.inputs.size());
  for (std::size_t k = 0; k < shard.inputs.size(); ++k) {
    spec.inputs[shard.input_of[k]].push_back(shard.inputs[k].box);
  }
  spec.seed = kSeed;
  return spec;
}

std::vector<const LayerOnShards::Shard*> LayerOnShards::group_of(const Shard& shard) const {
  const PerDim<bool> over = statistics(call_.layer(), shard.box).over;
  std::vector<const Shard*> group;
  for (const Shard& other : shards_) {
    const bool same = std::all_of(kDims.begin(), kDims.end(), [&](Dim dim) {
      return over[dim] || other.box[dim] == shard.box[dim];
    });
    if (same) group.push_back(&other);
  }
  return group;
}

void LayerOnShards::spoil(const Region& region) {
  if (region.data == nullptr) return;
  const std::int64_t size = sizeof(float), values = (backend_.bytes(region.box) + size - 1) / size;
  spoil(Values{static_cast<float*>(region.data), values});
}

void LayerOnShards::spoil(const Values& values) {
  if (values.count == 0) return;
  const std::vector<float> unwritten(static_cast<std::size_t>(values.count), kUnwritten);
  backend_.copy_values(values.data, unwritten.data(), values.count);
}

void LayerOnShards::load(const Region& to, const reference::Tensor& from) {
  if (to.data == nullptr) return;
  backend_.load(to, floats(from.values).data(), from.extents);
}

void LayerOnShards::begin_gradients(Shard& shard) {
  for (std::size_t k = 0; k < shard.input_gradients.size(); ++k) {
    spoil(shard.input_gradients[k]);
    if (!cut_.adds_inputs) continue;
    reference::Tensor before(call_.inputs[shard.input_of[k]]->extents);
    std::fill(before.values.begin(), before.values.end(), kBefore);
    load(shard.input_gradients[k], before);
  }
  spoil(shard.parameter_gradients);
  if (!cut_.adds_parameters || shard.parameter_gradients.count == 0) return;
  const std::vector<float> before(static_cast<std::size_t>(shard.parameter_gradients.count),
                                  kBefore);
  backend_.copy_values(shard.parameter_gradients.data, before.data(),
                       shard.parameter_gradients.count);
}

void LayerOnShards::load_step(Shard& shard) {
  site_.enter(shard.device);
  for (std::size_t k = 0; k < shard.inputs.size(); ++k) {
    load(shard.inputs[k], *call_.inputs[shard.input_of[k]]);
  }
  begin_gradients(shard);
  spoil(shard.output);
  spoil(shard.statistics);
  load_parameters(shard);
}

void LayerOnShards::load_parameters(Shard& shard) {
  if (shard.parameters.count == 0) return;
  std::vector<float> held(static_cast<std::size_t>(shard.parameters.count));
  std::vector<float> whole = floats(call_.weights->weight);
  whole.insert(whole.end(), call_.weights->bias.begin(), call_.weights->bias.end());
  ParameterRows(call_.layer(), shard.box).read(held.data(), whole.data());
  backend_.copy_values(shard.parameters.data, held.data(), shard.parameters.count);
}

/// The sum of both gradients goes to the earlier one.
bool LayerOnShards::gives_gradient(const Shard& shard, std::size_t box) const {
  const std::size_t input = shard.input_of[box];
  return !earlier_reading(call_.layer(), input) && has_gradient(call_.layer().op, input);
}

void LayerOnShards::run(Phase phase, Shard& shard) {
  std::vector<Region> gradients = shard.input_gradients;
  for (std::size_t k = 0; k < gradients.size(); ++k) {
    if (!gives_gradient(shard, k)) gradients[k] = {};
  }
  Operands operands;
  operands.inputs = shard.inputs;
  operands.output = cut_.in_place ? shard.inputs[0] : shard.output;
  operands.statistics = shard.statistics.data;
  operands.saved = shard.saved.data;
  operands.parameters = shard.parameters.data;
  operands.adds_input_gradients = cut_.adds_inputs;
  operands.adds_parameter_gradients = cut_.adds_parameters;
  operands.loss = static_cast<LossPart*>(shard.loss.get());
  operands.step = &step_;
  if (phase > Phase::forward) {
    operands.output_gradient = cut_.in_place ? gradients[0] : shard.output_gradient;
  }
  if (phase == Phase::backward_data) operands.input_gradients = gradients;
  if (phase == Phase::backward_weights || phase == Phase::backward_statistics) {
    operands.parameter_gradients = shard.parameter_gradients.data;
  }
  shard.kernel->run(phase, operands);
}

void LayerOnShards::run(Phase phase) {
  if (!phases_[phase]) return;
  for (Shard& shard : shards_) {
    site_.enter(shard.device);
    run(phase, shard);
  }
  const bool exchanges = phase == Phase::forward_statistics || phase == Phase::backward_statistics;
  if (exchanges) combine_statistics(phase);
}

// Devices that work on their own are waited for: nothing else brings their order here.
void LayerOnShards::combine_statistics(Phase phase) {
  backend_.finish();
  const PerDim<bool> over = statistics(call_.layer(), whole(call_.layer().output)).over;
  for (const Shard& shard : shards_) {
    std::vector<const float*> parts;
    std::vector<std::int64_t> counts;
    for (const Shard* other : group_of(shard)) {
      parts.push_back(other->statistics.data);
      counts.push_back(elements_over(over, other->box));
    }
    site_.enter(shard.device);
    backend_.combine(combination(call_.layer(), phase), shard.combined.data, parts, counts, 0,
                     shard.combined.count);
  }
  backend_.finish();
  for (const Shard& shard : shards_) {
    site_.enter(shard.device);
    backend_.copy_values(shard.statistics.data, shard.combined.data, shard.combined.count);
  }
}

reference::Tensor LayerOnShards::forward() {
  site_.begin_step(step_);
  for (Shard& shard : shards_) {
    *static_cast<LossPart*>(shard.loss.get()) = {};
    load_step(shard);
  }
  run(Phase::forward_statistics);
  run(Phase::forward);
  reference::Tensor whole(call_.layer().output);
  for (const Shard& shard : shards_) {
    accumulate(whole, shard, cut_.in_place ? shard.inputs[0] : shard.output);
  }
  return whole;
}

LossPart LayerOnShards::loss() const {
  LossPart sum;
  for (const Shard& shard : shards_) {
    const auto& part = *static_cast<const LossPart*>(shard.loss.get());
    sum.loss += part.loss;
    sum.correct += part.correct;
  }
  return sum;
}

reference::Gradients LayerOnShards::backward(const reference::Tensor& output_gradient) {
  for (Shard& shard : shards_) {
    site_.enter(shard.device);
    load(cut_.in_place ? shard.input_gradients[0] : shard.output_gradient, output_gradient);
  }
  run(Phase::backward_statistics);
  run(Phase::backward_weights);
  run(Phase::backward_data);
  reference::Gradients sum;
  for (const reference::Tensor* input : call_.inputs) sum.inputs.emplace_back(input->extents);
  sum.weights.weight.resize(call_.weights->weight.size());
  sum.weights.bias.resize(call_.weights->bias.size());
  for (const Shard& shard : shards_) {
    add_input_gradients(shard, sum.inputs);
    add_parameter_gradients(shard, sum.weights);
  }
  return sum;
}

void LayerOnShards::accumulate(reference::Tensor& to, const Shard& shard, const Region& from,
                               float less) {
  if (from.data == nullptr) return;
  std::vector<float> plain(to.values.size());
  site_.enter(shard.device);
  backend_.store(plain.data(), to.extents, from);
  backend_.finish();
  each_place(to.extents, from.box,
             [&](std::int64_t i) { to[i] += plain[static_cast<std::size_t>(i)] - less; });
  site_.expect_sound(from);
}

void LayerOnShards::add_input_gradients(const Shard& shard, std::vector<reference::Tensor>& sums) {
  for (std::size_t k = 0; k < shard.inputs.size(); ++k) {
    if (gives_gradient(shard, k)) {
      accumulate(sums[shard.input_of[k]], shard, shard.input_gradients[k],
                 cut_.adds_inputs ? kBefore : 0);
    }
  }
}

void LayerOnShards::add_parameter_gradients(const Shard& shard, reference::Weights& sums) {
  const Values& held = shard.parameter_gradients;
  if (held.count == 0) return;
  std::vector<float> gradients(static_cast<std::size_t>(held.count));
  site_.enter(shard.device);
  backend_.copy_values(gradients.data(), held.data, held.count);
  backend_.finish();
  std::vector<float> whole(sums.weight.size() + sums.bias.size());
  if (cut_.adds_parameters) {
    for (float& value : gradients) value -= kBefore;
  }
  ParameterRows(call_.layer(), shard.box).write(whole.data(), gradients.data());
  std::size_t next = 0;
  for (double& sum : sums.weight) sum += whole[next++];
  for (double& sum : sums.bias) sum += whole[next++];
}

}  // namespace strata::shards
