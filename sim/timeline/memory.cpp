#include "sim/timeline/memory.h"

#include <algorithm>
#include <limits>
#include <span>

#include "sim/plan/work_kind.h"

namespace strata {
namespace {

struct Change {
  Seconds at;
  Bytes bytes;
};

std::vector<MemoryUse> curve(Bytes resident, std::vector<Change>& changes) {
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    const double first = place_in_time(a.at, a.bytes), second = place_in_time(b.at, b.bytes);
    return first != second ? first < second : a.bytes < b.bytes;
  });
  std::vector<MemoryUse> result = {{Seconds{0}, resident}};
  for (const Change& change : changes) {
    const Bytes now = result.back().bytes + change.bytes;
    const Seconds at = std::max(result.back().at, change.at);
    if (result.back().at == at && result.size() > 1 && change.bytes < Bytes{0}) {
      result.back().bytes = now;
    } else {
      result.push_back({at, now});
    }
  }
  return result;
}

}  // namespace

double place_in_time(Seconds at, Bytes change) {
  constexpr Seconds kRounding{16e-12};  // of a clock that counts picoseconds
  return change < Bytes{0} ? at.value : (at + kRounding).value;
}

Lifetime lifetime(const Plan& plan, const Timeline& timeline, std::size_t step, BufferId buffer) {
  Lifetime kept{Seconds{std::numeric_limits<double>::infinity()}, Seconds{0}};
  for (TaskId first : plan.first_users(buffer)) {
    kept.from = std::min(kept.from, timeline.span(step, first).start);
  }
  for (TaskId last : plan.last_users(buffer)) {
    kept.until = std::max(kept.until, timeline.span(step, last).end);
  }
  return kept;
}

namespace {

// Of the devices of which it is `asked`; nothing of others.
std::vector<std::vector<MemoryUse>> curves_of(const Plan& plan, const Timeline& timeline,
                                              const std::vector<bool>& asked) {
  std::vector<Bytes> resident(plan.device_count());
  std::vector<std::vector<Change>> changes(plan.device_count());
  std::vector<std::size_t> counts(plan.device_count());
  for (const Buffer& buffer : plan.buffers()) counts[buffer.device()] += asked[buffer.device()];
  for (std::size_t d = 0; d < counts.size(); ++d) {
    changes[d].reserve(2 * counts[d] * timeline.steps());
  }
  for (std::size_t i = 0; i < plan.buffers().size(); ++i) {
    const Buffer& buffer = plan.buffers()[i];
    if (!asked[buffer.device()]) continue;
    if (buffer.lasts()) {
      resident[buffer.device()] += buffer.bytes;
      continue;
    }
    for (std::size_t step = 0; step < timeline.steps(); ++step) {
      const Lifetime kept = lifetime(plan, timeline, step, BufferId(i));
      changes[buffer.device()].push_back({kept.from, buffer.bytes});
      changes[buffer.device()].push_back({kept.until, Bytes{0} - buffer.bytes});
    }
  }
  std::vector<std::vector<MemoryUse>> curves(plan.device_count());
  for (std::size_t device = 0; device < plan.device_count(); ++device) {
    if (asked[device]) curves[device] = curve(resident[device], changes[device]);
  }
  return curves;
}

}  // namespace

std::vector<std::vector<MemoryUse>> memory_curves(const Plan& plan, const Timeline& timeline) {
  return curves_of(plan, timeline, std::vector<bool>(plan.device_count(), true));
}

std::vector<Bytes> peak_memory(const Plan& plan, const Timeline& timeline) {
  std::vector<Bytes> peaks;
  for (const auto& curve : memory_curves(plan, timeline)) {
    Bytes peak;
    for (const MemoryUse& use : curve) peak = std::max(peak, use.bytes);
    peaks.push_back(peak);
  }
  return peaks;
}

std::vector<LiveTensor> live_tensors(const Plan& plan, const Timeline& timeline, DeviceId device,
                                     double at) {
  std::vector<LiveTensor> live;
  for (std::uint32_t i = 0; i < plan.buffers().size(); ++i) {
    const Buffer& buffer = plan.buffers()[i];
    if (buffer.device != plan.representative(device)) continue;
    if (buffer.lasts()) {
      live.push_back({i, 0, 0, timeline.makespan().value});
      continue;
    }
    for (std::size_t step = 0; step < timeline.steps(); ++step) {
      const Lifetime kept = lifetime(plan, timeline, step, BufferId(i));
      if (kept.from.value <= at && at < kept.until.value) {
        live.push_back({i, step, kept.from.value, kept.until.value});
      }
    }
  }
  std::stable_sort(live.begin(), live.end(), [&](const LiveTensor& a, const LiveTensor& b) {
    return plan.buffers()[a.buffer].bytes > plan.buffers()[b.buffer].bytes;
  });
  return live;
}

namespace {

// A forward pass is the first to use it, and a backward pass the last.
bool is_kept(const Plan& plan, BufferId buffer) {
  const auto any = [&](std::span<const TaskId> users, const auto& is) {
    return std::any_of(users.begin(), users.end(), [&](TaskId task) { return is(plan[task]); });
  };
  if (plan[buffer].lasts()) return false;
  const auto forward = [](const Task& task) { return is_forward(task.phase) && !task.again; };
  const auto later = [](const Task& task) { return !is_forward(task.phase); };
  return any(plan.first_users(buffer), forward) && any(plan.last_users(buffer), later);
}

Seconds time_of_peak(const std::vector<MemoryUse>& curve) {
  return std::max_element(curve.begin(), curve.end(),
                          [](const MemoryUse& a, const MemoryUse& b) { return a.bytes < b.bytes; })
      ->at;
}

}  // namespace

namespace {

std::vector<LiveTensor> live_at_peak(const Plan& plan, const Timeline& timeline, DeviceId device) {
  const DeviceId shown = plan.representative(device);
  std::vector<bool> asked(plan.device_count());
  asked[shown()] = true;
  const Seconds at = time_of_peak(curves_of(plan, timeline, asked)[shown()]);
  return live_tensors(plan, timeline, device, at.value);
}

}  // namespace

std::vector<BufferId> kept_at_peak(const Plan& plan, const Timeline& timeline, DeviceId device) {
  std::vector<BufferId> kept;
  for (const LiveTensor& live : live_at_peak(plan, timeline, device)) {
    const BufferId buffer(live.buffer);
    if (is_kept(plan, buffer)) kept.push_back(buffer);
  }
  return kept;
}

MemoryParts memory_at_peak(const Plan& plan, const Timeline& timeline, DeviceId device) {
  MemoryParts parts;
  for (const LiveTensor& live : live_at_peak(plan, timeline, device)) {
    const Buffer& buffer = plan.buffers()[live.buffer];
    const bool gradient = buffer.kind == BufferKind::parameter_gradients ||
                          buffer.kind == BufferKind::round_gradients ||
                          buffer.kind == BufferKind::server_gradients;
    const bool holds_parameters = buffer.lasts() || buffer.kind == BufferKind::gathered_parameters;
    const bool state = buffer.kind == BufferKind::optimizer_state;
    Bytes& part = state                                  ? parts.optimizer
                  : holds_parameters                     ? parts.parameters
                  : gradient                             ? parts.gradients
                  : is_kept(plan, BufferId(live.buffer)) ? parts.activations
                                                         : parts.buffers;
    part += buffer.bytes;
  }
  return parts;
}

std::vector<BufferId> kept_for_backward(const Plan& plan, DeviceId device) {
  std::vector<BufferId> kept;
  for (std::size_t i = 0; i < plan.buffers().size(); ++i) {
    const bool own = plan.buffers()[i].device == plan.representative(device);
    if (own && is_kept(plan, BufferId(i))) kept.emplace_back(i);
  }
  return kept;
}

}  // namespace strata
