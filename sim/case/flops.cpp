#include "sim/case/flops.h"

#include <cmath>
#include <vector>

#include "sim/case/cost_basis.h"
#include "sim/case/plausibility.h"
#include "sim/cluster/what_if.h"
#include "sim/cost/work.h"
#include "sim/step/layer_counts.h"

namespace strata {

namespace {

// Of what the product does. Libraries' fastest method makes 4x4 outputs of r x r taps by (r+3)^2
// multiplications instead of 16 r^2.
double least_share(const PhaseWork& work) {
  if (work.winograd.count == 0) return 1;
  const double r = std::sqrt(static_cast<double>(work.winograd.count)) - 1;  // (r+1)^2 of F(2x2)
  const double share = (r + 3) / (4 * r);
  return share * share;
}

}  // namespace

StepFlops step_flops(const Graph& graph, const KernelTraits& kernels, const Segments& segments) {
  const std::vector<LayerCounts> counts = count_actions(graph, kernels, segments);
  StepFlops flops;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const LayerId id(i);
    const Layer& layer = graph[id];
    const std::int64_t forward = macs(graph, id);
    if (forward == 0) continue;
    // Without parameters both factors of a product have a gradient.
    const int data = layer.parameters.total() > 0 ? 1 : 2;
    const int passes = 1 + (counts[i].computes(Phase::backward_data) ? data : 0) +
                       (counts[i].computes(Phase::backward_weights) ? 1 : 0);
    flops.model = flops.model + Flops{2.0 * static_cast<double>(forward) * passes};
    std::vector<Extents> inputs;
    for (LayerId input : layer.inputs) inputs.push_back(graph[input].output);
    const ShardWork work{&layer.op, layer.output, inputs, layer.parameters};
    for (Phase phase : {Phase::forward, Phase::backward_data, Phase::backward_weights}) {
      if (!counts[i].computes(phase)) continue;
      const PhaseWork needed = phase_work(work, phase, kernels);
      const Flops done = needed.direct.flops() * counts[i].times(phase, 1);
      flops.hardware = flops.hardware + done;
      flops.least = flops.least + done * least_share(needed);
    }
  }
  return flops;
}

std::optional<FlopsUtilisation> flops_utilisation(const Case& input, const Strategy& strategy,
                                                  Seconds step) {
  // Hosts that are slow have devices of the same peak.
  const double slowed = slowest_host(input.cluster, input.host_jitter);
  double peak = 0;
  for (std::size_t i = 0; i < input.models.size(); ++i) {
    const auto of_device = input.models[i]->peak(input.dtypes.values);
    if (!of_device) return std::nullopt;
    peak += of_device->value * input.cluster[DeviceId(i)].speed * slowed;
  }
  const double possible = peak * step.value;
  const StepFlops flops =
      step_flops(input.graph, kernels_of(input), with_recomputation(input, strategy).segments());
  // The graph may be of a part of the batch.
  const double parts =
      static_cast<double>(input.batch()) / static_cast<double>(input.graph.batch());
  const Flops least = input.dtypes.values == DType::fp32 ? flops.least : flops.hardware;
  const auto devices = static_cast<double>(input.models.size());
  return FlopsUtilisation{parts * flops.model.value / possible,
                          parts * flops.hardware.value / possible, parts * least.value / possible,
                          Flops{parts * flops.model.value / (step.value * devices)}};
}

void add_flops(const Case& input, const Strategy& strategy, CaseResult& result) {
  result.uncosted_share = uncosted(input.graph).activations;
  if (!result.step_seconds) return;
  const auto used = flops_utilisation(input, strategy, Seconds{*result.step_seconds});
  if (!used) return;
  result.mfu = used->model;
  result.hfu = used->hardware;
  result.tflops = used->per_device.value / 1e12;
  result.plausible = plausibility(input, *used, Seconds{*result.step_seconds}).plausible;
}

}  // namespace strata
