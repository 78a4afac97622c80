#include "gui/models/memory/memory_stack.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <tuple>
#include <utility>

#include "gui/models/text.h"
#include "gui/models/timeline/plan_recording.h"
#include "sim/cost/cost_model.h"
#include "sim/timeline/memory.h"

namespace strata::gui {
namespace {

/// A buffer comes or goes.
struct MemoryChange {
  double at = 0;
  std::int64_t bytes = 0;
  std::size_t kind = 0;
};

using BufferNumbers = std::vector<std::uint32_t>;

std::vector<BufferNumbers> buffers_by_device(const Plan& plan) {
  std::vector<BufferNumbers> devices(plan.device_count());
  for (std::uint32_t i = 0; i < plan.buffers().size(); ++i) {
    devices[plan.buffers()[i].device()].push_back(i);
  }
  return devices;
}

std::vector<MemoryChange> changes_of(const Plan& plan, const Timeline& timeline,
                                     const BufferNumbers& numbers) {
  std::vector<MemoryChange> changes;
  for (const std::uint32_t i : numbers) {
    const Buffer& buffer = plan.buffers()[i];
    const auto kind = static_cast<std::size_t>(use_of(buffer.kind));
    if (plan.stays(buffer)) {
      changes.push_back({0, buffer.bytes.value, kind});
      continue;
    }
    for (std::size_t step = 0; step < timeline.steps(); ++step) {
      const Lifetime kept = lifetime(plan, timeline, step, BufferId(i));
      changes.push_back({kept.from.value, buffer.bytes.value, kind});
      changes.push_back({kept.until.value, -buffer.bytes.value, kind});
    }
  }
  const auto place = [](const MemoryChange& change) {
    return std::tuple(place_in_time(Seconds{change.at}, Bytes{change.bytes}), change.bytes > 0);
  };
  std::sort(changes.begin(), changes.end(),
            [&](const MemoryChange& a, const MemoryChange& b) { return place(a) < place(b); });
  return changes;
}

bool lower(const MemoryStack::Level& a, const MemoryStack::Level& b) {
  return a.total() < b.total();
}

MemoryStack stack_of(const std::vector<MemoryChange>& changes) {
  MemoryStack stack;
  stack.levels.emplace_back();
  for (const MemoryChange& change : changes) {
    if (change.at > stack.levels.back().at) {
      stack.levels.push_back(stack.levels.back());
      stack.levels.back().at = change.at;
    }
    stack.levels.back().bytes[change.kind] += change.bytes;
  }
  stack.peak = static_cast<std::size_t>(
      std::max_element(stack.levels.begin(), stack.levels.end(), lower) - stack.levels.begin());
  return stack;
}

// The same peak comes again in every step.
void prefer_steady_peak(MemoryStack& stack, const TimeRange& steady) {
  const MemoryStack::Level& later = stack.highest(steady.begin.value, steady.end.value);
  if (later.total() != stack.peak_bytes().value) return;
  stack.peak = static_cast<std::size_t>(&later - stack.levels.data());
}

TableCell share_cell(const HeldTensors& held, const LiveTensor& live) {
  const double share = static_cast<double>(held.buffer(live).bytes.value) /
                       static_cast<double>(std::max<std::int64_t>(held.total.value, 1));
  return {human_share(share), share};
}
TableCell kind_cell(const HeldTensors& held, const LiveTensor& live) {
  const BufferKind kind = held.buffer(live).kind;
  const std::string_view what = name(kind);
  return {QString::fromUtf8(what.data(), static_cast<qsizetype>(what.size())),
          static_cast<int>(kind),
          {},
          static_cast<int>(use_of(kind))};
}
template <double LiveTensor::*time>
TableCell time_cell(const HeldTensors& held, const LiveTensor& live) {
  const bool stays = held.scene->prediction.plan.stays(held.buffer(live));
  return {stays ? TensorTable::tr("always") : human_seconds({live.*time}), live.*time};
}

constexpr std::array<TensorTable::Spec, TensorTable::kColumns> kTensorColumns = {{
    {"Layer", "", "", false,
     [](auto& held, auto& live) {
       return TableCell{held.layer(live), static_cast<qlonglong>(held.buffer(live).layer())};
     }},
    {"Size", "", "", true,
     [](auto& held, auto& live) {
       const Bytes bytes = held.buffer(live).bytes;
       return TableCell{human_bytes(bytes), static_cast<qlonglong>(bytes.value)};
     }},
    {"What", "", "", false, kind_cell},
    {"Share", "Of all that the device holds at this moment", "", true, share_cell},
    {"From", "When it begins to be kept", "", true, time_cell<&LiveTensor::begin>},
    {"Until", "When it is let go", "", true, time_cell<&LiveTensor::end>},
    {"Shard", "Which of the layer's parts it is of", "", true,
     [](auto& held, auto& live) {
       const int shard = static_cast<int>(held.buffer(live).shard);
       return TableCell{QString::number(shard + 1), shard};
     }},
}};

}  // namespace

MemoryUseKind use_of(BufferKind kind) {
  switch (kind) {
    case BufferKind::parameters:
    case BufferKind::optimizer_state:
    case BufferKind::gathered_parameters:
      return MemoryUseKind::parameters;
    case BufferKind::parameter_gradients:
    case BufferKind::server_gradients:
    case BufferKind::round_gradients:
      return MemoryUseKind::parameter_gradients;
    case BufferKind::activation:
    case BufferKind::partial_output:
    case BufferKind::saved:
    case BufferKind::statistics:
      return MemoryUseKind::activations;
    case BufferKind::data:
    case BufferKind::input:
      return MemoryUseKind::gathered_inputs;
    default:
      return MemoryUseKind::activation_gradients;
  }
}

std::string_view name(MemoryUseKind kind) {
  constexpr std::array<std::string_view, kMemoryUseKinds> kUses = {
      "parameters", "parameter gradients", "activations", "gathered inputs",
      "activation gradients"};
  return kUses[static_cast<std::size_t>(kind)];
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

std::shared_ptr<const MemoryPicture> picture_memory(const ScenePtr& scene) {
  auto picture = std::make_shared<MemoryPicture>();
  picture->scene = scene;
  const Plan& plan = scene->prediction.plan;
  const Timeline& timeline = scene->prediction.timeline;
  picture->end = timeline.makespan().value;
  picture->steady = steady_step(timeline).value_or(TimeRange{});
  const std::vector<BufferNumbers> numbers = buffers_by_device(plan);
  picture->stacks.resize(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::size_t representative = plan.representative(DeviceId(i))();
    const Bytes capacity = memory_capacity(scene->input, DeviceId(i));
    picture->capacity = std::max(picture->capacity, capacity.value);
    if (representative == i) {
      MemoryStack stack = stack_of(changes_of(plan, timeline, numbers[i]));
      prefer_steady_peak(stack, picture->steady);
      stack.capacity = capacity;
      picture->highest = std::max(picture->highest, stack.peak_bytes().value);
      picture->stacks[i] = std::make_shared<const MemoryStack>(std::move(stack));
      continue;
    }
    picture->stacks[i] = picture->stacks[representative];  // the first device of the class
    if (capacity == picture->stacks[i]->capacity) continue;
    MemoryStack own = *picture->stacks[i];
    own.capacity = capacity;
    picture->stacks[i] = std::make_shared<const MemoryStack>(std::move(own));
  }
  return picture;
}

MemoryScale MemoryPicture::fitting_scale() const {
  constexpr double kNear = 0.6;
  const bool near = std::any_of(stacks.begin(), stacks.end(), [](const auto& stack) {
    return static_cast<double>(stack->peak_bytes().value) >
           kNear * static_cast<double>(stack->capacity.value);
  });
  return near ? MemoryScale::capacity : MemoryScale::peak;
}

std::int64_t MemoryPicture::top(MemoryScale scale) const {
  const std::int64_t most = scale == MemoryScale::peak ? highest : std::max(highest, capacity);
  return std::max<std::int64_t>(most, 1);
}

std::vector<std::int64_t> byte_ticks(std::int64_t top, int most) {
  std::int64_t step = 1;
  for (int i = 0; top / step >= most; ++i) step = i % 3 == 1 ? step / 2 * 5 : step * 2;
  std::vector<std::int64_t> ticks;
  for (std::int64_t at = step; at < top; at += step) ticks.push_back(at);
  return ticks;
}

TensorTable::TensorTable(QObject* parent) : RowTable(kTensorColumns, parent) {}

void TensorTable::show(ScenePtr scene, DeviceId device, double at) {
  HeldTensors held{std::move(scene)};
  std::vector<LiveTensor> tensors;
  if (held.scene) {
    const Prediction& prediction = held.scene->prediction;
    tensors = live_tensors(prediction.plan, prediction.timeline, device, at);
  }
  for (const LiveTensor& live : tensors) held.total += held.buffer(live).bytes;
  RowTable::show(std::move(held), std::move(tensors));
}

// By shards from 0 and in seconds, whatever lasts.
std::string TensorTable::csv() const {
  std::string lines = "layer,what,shard,size_bytes,from_seconds,until_seconds\n";
  for (const LiveTensor& live : rows()) {
    const Buffer& tensor = context_.buffer(live);
    fmt::format_to(std::back_inserter(lines), "{},{},{},{},{},{}\n",
                   csv_cell(context_.layer(live).toStdString()), name(tensor.kind), tensor.shard,
                   tensor.bytes.value, live.begin, live.end);
  }
  return lines;
}

}  // namespace strata::gui
