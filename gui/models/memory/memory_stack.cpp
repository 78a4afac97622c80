#include "gui/models/memory/memory_stack.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "sim/cost/cost_model.h"

namespace strata::gui {
namespace {

/// A buffer comes or goes.
struct MemoryChange {
  double at = 0;
  std::int64_t bytes = 0;
  std::size_t kind = 0;
};

double freed_at(const Buffer& buffer, const Timeline& timeline, std::size_t step) {
  Seconds end = timeline.span(step, buffer.first).end;
  for (const TaskId user : buffer.users) end = std::max(end, timeline.span(step, user).end);
  return end.value;
}

std::vector<MemoryChange> changes_of(const Plan& plan, const Timeline& timeline, DeviceId device) {
  std::vector<MemoryChange> changes;
  for (const Buffer& buffer : plan.buffers()) {
    if (buffer.device != device) continue;
    const auto kind = static_cast<std::size_t>(use_of(buffer.kind));
    if (!buffer.first.valid()) {
      changes.push_back({0, buffer.bytes.value, kind});
      continue;
    }
    for (std::size_t step = 0; step < timeline.steps(); ++step) {
      changes.push_back({timeline.span(step, buffer.first).start.value, buffer.bytes.value, kind});
      changes.push_back({freed_at(buffer, timeline, step), -buffer.bytes.value, kind});
    }
  }
  return changes;
}

}  // namespace

MemoryUseKind use_of(BufferKind kind) {
  switch (kind) {
    case BufferKind::parameters:
      return MemoryUseKind::parameters;
    case BufferKind::parameter_gradients:
    case BufferKind::server_gradients:
      return MemoryUseKind::parameter_gradients;
    case BufferKind::activation:
    case BufferKind::mask:
      return MemoryUseKind::activations;
    case BufferKind::input:
      return MemoryUseKind::gathered_inputs;
    default:
      return MemoryUseKind::activation_gradients;
  }
}

std::string_view name(MemoryUseKind kind) {
  constexpr std::array<std::string_view, kMemoryUseKinds> kNames = {
      "parameters", "parameter gradients", "activations", "gathered inputs",
      "activation gradients"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view name(BufferKind kind) {
  constexpr std::array<std::string_view, 9> kNames = {
      "parameters",     "parameter gradient", "gradient at the server",
      "activation",     "dropout mask",       "gathered input",
      "input gradient", "received gradient",  "gathered gradient"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::int64_t MemoryStack::Level::total() const {
  return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
}

const MemoryStack::Level& MemoryStack::level_at(double at) const {
  const auto after = std::upper_bound(levels.begin() + 1, levels.end(), at,
                                      [](double t, const Level& level) { return t < level.at; });
  return *(after - 1);
}

const MemoryStack::Level& MemoryStack::highest(double begin, double end) const {
  const Level* highest = &level_at(begin);
  auto next = levels.begin() + (highest - levels.data()) + 1;
  for (; next != levels.end() && next->at <= end; ++next) {
    if (next->total() > highest->total()) highest = &*next;
  }
  return *highest;
}

// What is freed at an instant is gone before what starts at that instant is there.
MemoryStack stack_memory(const Plan& plan, const Timeline& timeline, DeviceId device) {
  std::vector<MemoryChange> changes = changes_of(plan, timeline, device);
  std::sort(changes.begin(), changes.end(), [](const MemoryChange& a, const MemoryChange& b) {
    return std::tuple(a.at, a.bytes > 0) < std::tuple(b.at, b.bytes > 0);
  });
  MemoryStack stack;
  stack.levels.emplace_back();
  for (const MemoryChange& change : changes) {
    if (change.at > stack.levels.back().at) {
      stack.levels.push_back(stack.levels.back());
      stack.levels.back().at = change.at;
    }
    stack.levels.back().bytes[change.kind] += change.bytes;
  }
  const auto lower = [](const MemoryStack::Level& a, const MemoryStack::Level& b) {
    return a.total() < b.total();
  };
  stack.peak = static_cast<std::size_t>(
      std::max_element(stack.levels.begin(), stack.levels.end(), lower) - stack.levels.begin());
  return stack;
}

std::vector<LiveTensor> live_tensors(const Plan& plan, const Timeline& timeline, DeviceId device,
                                     double at) {
  std::vector<LiveTensor> live;
  for (std::uint32_t i = 0; i < plan.buffers().size(); ++i) {
    const Buffer& buffer = plan.buffers()[i];
    if (buffer.device != device) continue;
    if (!buffer.first.valid()) {
      live.push_back({i, 0, 0, timeline.makespan().value});
      continue;
    }
    for (std::size_t step = 0; step < timeline.steps(); ++step) {
      const double begin = timeline.span(step, buffer.first).start.value;
      const double end = freed_at(buffer, timeline, step);
      if (begin <= at && at < end) live.push_back({i, step, begin, end});
    }
  }
  std::stable_sort(live.begin(), live.end(), [&](const LiveTensor& a, const LiveTensor& b) {
    return plan.buffers()[a.buffer].bytes > plan.buffers()[b.buffer].bytes;
  });
  return live;
}

std::shared_ptr<const MemoryPicture> picture_memory(const ScenePtr& scene) {
  auto picture = std::make_shared<MemoryPicture>();
  picture->scene = scene;
  const Prediction& prediction = scene->prediction;
  picture->end = prediction.timeline.makespan().value;
  for (std::size_t i = 0; i < prediction.plan.device_count(); ++i) {
    picture->stacks.push_back(stack_memory(prediction.plan, prediction.timeline, DeviceId(i)));
    MemoryStack& stack = picture->stacks.back();
    stack.capacity = scene->input.models[i]->memory_capacity();
    picture->highest = std::max(picture->highest, stack.peak_bytes().value);
  }
  return picture;
}

}  // namespace strata::gui
