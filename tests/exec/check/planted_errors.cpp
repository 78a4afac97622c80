#include "tests/exec/check/planted_errors.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "sim/graph/regions.h"

namespace strata::testing {
namespace {

const std::string kConvolution = "layer2_1_conv2";  // 3 x 3, with halos where rows are cut
const DeviceId kOther(1);                           // where mistakes are made

using OnKernel = std::function<void(KernelCall&)>;

bool is(const KernelCall& call, const std::string& layer, Phase phase) {
  return call.layer == layer && call.phase == phase && call.device == kOther;
}

/// `what` in place of this phase of the other device's shard.
Planted instead(const std::string& layer, Phase phase, OnKernel what) {
  Planted planted;
  planted.kernel = [=](KernelCall& call) { is(call, layer, phase) ? what(call) : call.run(); };
  return planted;
}

/// `what` in place of this phase of all shards: replicas agree on what is wrong.
Planted everywhere(const std::string& layer, Phase phase, OnKernel what) {
  Planted planted;
  planted.kernel = [=](KernelCall& call) {
    call.layer == layer&& call.phase == phase ? what(call) : call.run();
  };
  return planted;
}

std::int64_t row_values(const Box& box) {
  return box[Dim::w].size();
}

/// Rows [first, first + 1) of every plane of the region become what `row` makes of them.
void each_first_row(PlantedBackend& backend, const Region& region,
                    const std::function<void(float* first, std::int64_t width)>& row) {
  std::vector<float> values = backend.values(region);
  const std::int64_t width = row_values(region.box), plane = width * region.box[Dim::h].size();
  for (std::size_t at = 0; at < values.size(); at += static_cast<std::size_t>(plane)) {
    row(values.data() + at, width);
  }
  backend.set(region, values);
}

void lose_halo(KernelCall& call) {
  each_first_row(call.backend, call.operands.inputs[0],
                 [](float* first, std::int64_t width) { std::fill_n(first, width, 0.0F); });
  call.run();
}

void shift_halo(KernelCall& call) {
  each_first_row(call.backend, call.operands.inputs[0], [](float* first, std::int64_t width) {
    std::copy_n(first + width, width, first);
  });
  call.run();
}

// What the forward has used, and the next one will, is right.
void disturb_halo(KernelCall& call) {
  const std::vector<float> values = call.backend.values(call.operands.inputs[0]);
  each_first_row(call.backend, call.operands.inputs[0], [](float* first, std::int64_t width) {
    for (std::int64_t i = 0; i < width; ++i) first[i] *= 1.003F;
  });
  call.run();
  call.backend.set(call.operands.inputs[0], values);
}

// What this phase was given in the step before, where there was one.
Planted stale(const std::string& layer, bool parameters) {
  auto kept = std::make_shared<std::vector<float>>();
  return instead(layer, Phase::forward, [=](KernelCall& call) {
    if (!parameters) {
      std::vector<float> now = call.backend.values(call.operands.inputs[0]);
      if (!kept->empty()) call.backend.set(call.operands.inputs[0], *kept);
      *kept = std::move(now);
      return call.run();
    }
    const auto count =
        static_cast<std::size_t>(shard_parameters(*call.spec, call.spec.output).total());
    std::vector<float> now(call.operands.parameters, call.operands.parameters + count);
    if (!kept->empty()) call.operands.parameters = kept->data();
    call.run();
    *kept = std::move(now);
  });
}

void forget_branch(KernelCall& call) {
  call.run();
  call.backend.set(call.operands.output, call.backend.values(call.operands.inputs[0]));
}

void ignore_mask(KernelCall& call) {
  const std::vector<float> gradient = call.backend.values(call.operands.output_gradient);
  call.run();
  call.backend.set(call.operands.input_gradients[0], gradient);
}

// The places of the maxima one to the right.
void shift_places(KernelCall& call) {
  call.run();
  std::vector<float> gradient = call.backend.values(call.operands.input_gradients[0]);
  std::rotate(gradient.begin(), gradient.end() - 1, gradient.end());
  call.backend.set(call.operands.input_gradients[0], gradient);
}

void skip(KernelCall&) {}

void learn_faster(KernelCall& call) {
  StepContext context = *call.operands.step;
  context.learning_rate *= 1.01F;
  call.operands.step = &context;
  call.run();
}

void lose_bias(KernelCall& call) {
  call.run();
  const Parameters own = shard_parameters(*call.spec, call.spec.output);
  std::fill_n(call.operands.parameter_gradients + own.weight, own.bias, 0.0F);
}

void lose_loss(KernelCall& call) {
  call.run();
  call.operands.loss->loss *= 2;
}

void scale_gradient(KernelCall& call) {
  call.run();
  std::vector<float> gradient = call.backend.values(call.operands.input_gradients[0]);
  for (float& value : gradient) value *= 2;
  call.backend.set(call.operands.input_gradients[0], gradient);
}

Planted combine(const std::string& layer, bool statistics,
                std::function<std::vector<const float*>(const CombineCall&)> parts) {
  Planted planted;
  planted.combine = [=](CombineCall& call) {
    if (call.layer != layer || call.statistics != statistics) return call.run(call.parts);
    call.run(parts(call));
  };
  return planted;
}

std::vector<const float*> first_alone(const CombineCall& call) {
  return {call.parts[0]};
}

std::vector<const float*> last_twice(const CombineCall& call) {
  return {call.parts[0], call.parts[1], call.parts[1]};
}

std::vector<const float*> both_twice(const CombineCall& call) {
  return {call.parts[0], call.parts[1], call.parts[0], call.parts[1]};
}

/// `what` in place of the n-th box that comes from another device.
Planted crossing(std::int64_t number, std::function<void(BoxCall&)> what) {
  Planted planted;
  planted.copy = [=](BoxCall& call) {
    call.crosses&& call.number == number ? what(call) : call.run();
  };
  return planted;
}

// One row up, where the sender holds that.
void send_other_rows(BoxCall& call) {
  const auto move = [](Box box, std::int64_t rows) {
    box[Dim::h] = {box[Dim::h].begin + rows, box[Dim::h].end + rows};
    return box;
  };
  const Box above = move(call.box, -1);
  const bool held = intersect(above, call.from.box) == above;
  const Box other = held ? above : move(call.box, 1);
  std::vector<float> values(static_cast<std::size_t>(volume(other)));
  call.backend.pack(values.data(), call.from, other);
  call.backend.unpack(call.to, values.data(), call.box);
}

void send_nothing(BoxCall& call) {
  const std::vector<float> nothing(static_cast<std::size_t>(volume(call.box)));
  call.backend.unpack(call.to, nothing.data(), call.box);
}

Planted add_nothing(std::int64_t number, int times) {
  Planted planted;
  planted.add = [=](BoxCall& call) {
    for (int k = 0; k < (call.number == number ? times : 1); ++k) call.run();
  };
  return planted;
}

Planted lose_reader(std::int64_t number) {
  Planted planted;
  planted.sum = [=](DeviceId device, std::int64_t at, std::vector<Region>& parts) {
    if (device == kOther && at == number) parts.pop_back();
  };
  return planted;
}

// In the update that comes from other devices.
Planted lose_values(const std::string& layer) {
  Planted planted;
  planted.values_arrive = [=](DeviceId device, const std::string& of, std::int64_t) {
    return device != kOther || of != layer;
  };
  return planted;
}

Planted load_other_rows() {
  Planted planted;
  planted.loaded = [](DeviceId device, const Box& box, const Extents&) {
    if (device != kOther) return box;
    Box other = box;
    other[Dim::h] = {box[Dim::h].begin - 1, box[Dim::h].end - 1};
    return other;
  };
  return planted;
}

}  // namespace

std::vector<PlantedError> planted_errors() {
  constexpr SyncAlgorithm ring = SyncAlgorithm::ring, ps = SyncAlgorithm::ps;
  const std::string updates = "step 1: parameters";  // steps are counted from 0
  const std::string gradients = "step 0: parameter gradients";
  return {
      {"halo_of_other_rows", "rows", ring, instead(kConvolution, Phase::forward, shift_halo)},
      {"halo_lost", "rows", ring, instead(kConvolution, Phase::forward, lose_halo)},
      {"halo_lost_after_the_forward", "rows", ring,
       instead(kConvolution, Phase::backward_weights, lose_halo), gradients},
      {"halo_disturbed_after_the_forward", "rows", ring,
       instead("conv1", Phase::backward_weights, disturb_halo), gradients},
      {"data_of_other_rows", "rows", ring, load_other_rows()},
      {"transfer_of_other_rows", "rows", ring, crossing(0, send_other_rows)},
      {"late_transfer_of_other_rows", "rows", ring, crossing(9, send_other_rows)},
      {"transfer_lost", "rows", ring, crossing(5, send_nothing)},
      {"halo_gradient_lost", "rows", ring, add_nothing(3, 0)},
      {"halo_gradient_twice", "rows", ring, add_nothing(3, 2)},
      {"redistribution_lost", "owt", ring, crossing(0, send_nothing)},
      {"replica_lost", "data", ring, combine(kConvolution, false, first_alone)},
      {"replica_twice", "data", ring, combine(kConvolution, false, last_twice)},
      {"sum_for_mean", "data", ring, combine("fc", false, both_twice)},
      {"statistics_of_one_shard", "data", ring, combine("layer3_1_bn2", true, first_alone)},
      {"statistics_of_one_shard_of_rows", "rows", ring, combine("bn1", true, first_alone)},
      {"stale_weights", "data", ring, stale(kConvolution, true)},
      {"stale_input", "rows", ring, stale(kConvolution, false)},
      {"sums_not_fetched", "data", ring, lose_values("layer1_1_conv3")},
      {"server_not_heard", "data", ps, lose_values("layer1_1_conv3")},
      {"branch_missing", "data", ring, instead("layer2_1_add", Phase::forward, forget_branch)},
      {"reader_missing", "data", ring, lose_reader(4)},
      {"mask_ignored", "data", ring, instead("layer2_1_relu2", Phase::backward_data, ignore_mask)},
      {"maxima_elsewhere", "data", ring, instead("maxpool", Phase::backward_data, shift_places)},
      {"update_skipped", "data", ring, instead("layer4_1_conv2", Phase::update, skip), updates},
      {"other_rate", "data", ring, instead("layer4_1_conv2", Phase::update, learn_faster), updates},
      {"other_rate_everywhere", "data", ring,
       everywhere("layer4_1_conv2", Phase::update, learn_faster), updates},
      {"other_rate_of_shards", "owt", ring, everywhere("fc", Phase::update, learn_faster), updates},
      {"updates_skipped", "data", ring, everywhere("layer4_1_conv2", Phase::update, skip), updates},
      {"bias_lost", "data", ring, instead("fc", Phase::backward_weights, lose_bias)},
      {"norm_update_skipped", "data", ring, instead("layer2_0_bn1", Phase::update, skip), updates},
      {"loss_over_other_count", "data", ring, instead("loss", Phase::forward, lose_loss)},
      {"gradient_over_other_count", "data", ring,
       instead("loss", Phase::backward_data, scale_gradient)},
  };
}

}  // namespace strata::testing
