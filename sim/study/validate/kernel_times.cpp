#include "sim/study/validate/kernel_times.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace strata {
namespace {

KernelPass pass_of(Phase phase) {
  switch (phase) {
    case Phase::forward_statistics:
    case Phase::forward:
    case Phase::forward_sum:
      return KernelPass::forward;
    case Phase::update:
      return KernelPass::update;
    default:
      return KernelPass::backward;
  }
}

Seconds length_of(const TraceStep& step) {
  return step.end - step.begin;
}

}  // namespace

std::string_view name(KernelPass pass) {
  constexpr std::array<std::string_view, 4> kNames = {"forward", "backward", "update",
                                                      "recomputation"};
  return kNames[static_cast<std::size_t>(pass)];
}

std::string traced_device(const Case& input, DeviceId device) {
  const bool known = device() < input.cluster.device_count();
  return known ? input.cluster[device].name : fmt::format("GPU {}", device());
}

std::size_t last_steady_step(const Timeline& timeline) {
  return timeline.steps() == 0 ? 0 : timeline.steady_window().last;
}

PassTimes predicted_times(const Prediction& prediction) {
  PassTimes times;
  const std::size_t step = last_steady_step(prediction.timeline);
  for (std::size_t i = 0; i < prediction.plan.size(); ++i) {
    const Task& task = prediction.plan[TaskId(i)];
    if (task.kind != TaskKind::compute || !task.layer.valid()) continue;
    PassTime& time = times[{task.device, task.layer, pass_of(task.phase)}];
    if (time.parts++ == 0) time.first = TaskId(i);
    time.seconds += prediction.timeline.span(step, TaskId(i)).duration();
  }
  return times;
}

LayerPass in_plan(const Plan& plan, const LayerPass& pass) {
  LayerPass same = pass;
  if (pass.device() < plan.device_count()) same.device = plan.representative(pass.device);
  return same;
}

PassTimes traced_times(const Trace& trace, const KernelLayers& found, std::uint32_t step) {
  PassTimes times;
  for (const LayerKernel& kernel : found.kernels) {
    if (!kernel.layer.valid() || kernel.step != step) continue;
    PassTime& time = times[{DeviceId(kernel.device), kernel.layer, kernel.pass}];
    ++time.parts;
    time.seconds += trace.slices[kernel.slice].end - trace.slices[kernel.slice].begin;
  }
  return times;
}

std::uint32_t median_step(const KernelLayers& found) {
  std::vector<std::uint32_t> order(found.steps.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
  std::ranges::stable_sort(order, {},
                           [&](std::uint32_t step) { return length_of(found.steps[step]); });
  return order.empty() ? 0 : order[(order.size() - 1) / 2];
}

TraceComparison compare_kernels(const Trace& trace, const Case& input,
                                const Prediction& prediction) {
  return compare_kernels(trace, match_kernels(trace, input.graph), prediction);
}

TraceComparison compare_kernels(const Trace& trace, const KernelLayers& found,
                                const Prediction& prediction) {
  const std::uint32_t step = median_step(found);
  const PassTimes predicted = predicted_times(prediction);
  TraceComparison compared;
  compared.busy = found.steps[step].busy;
  compared.known_share = found.known_share(trace);
  if (found.names_steps) {
    compared.traced_step = length_of(found.steps[step]);
    compared.steps = found.steps.size();
  }
  for (const auto& [what, time] : traced_times(trace, found, step)) {
    const auto same = predicted.find(in_plan(prediction.plan, what));
    compared.passes.push_back({what, time.parts, time.seconds,
                               same == predicted.end() ? Seconds{} : same->second.seconds});
  }
  return compared;
}

}  // namespace strata
