#include "sim/timeline/memory.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>

#include "sim/plan/work_kind.h"

namespace strata {
namespace {

struct Change {
  Seconds at;
  Bytes bytes;
};

/// A change, and the bits of its place in time, which is not negative: they order as it does.
struct PlacedChange {
  std::uint64_t place;
  Change change;
};

bool comes_before(const PlacedChange& a, const PlacedChange& b) {
  return a.place != b.place ? a.place < b.place : a.change.bytes < b.change.bytes;
}

// By place alone, digit after digit: a pipeline has some hundred thousand on a device.
void sort_by_digits(std::vector<PlacedChange>& changes, std::vector<PlacedChange>& other) {
  constexpr unsigned kBits = 11;
  constexpr std::size_t kDigits = std::size_t{1} << kBits;
  other.resize(changes.size());
  std::vector<std::uint32_t> ends(kDigits);
  for (unsigned shift = 0; shift < 64; shift += kBits) {
    const auto digit = [shift](const PlacedChange& c) { return (c.place >> shift) % kDigits; };
    std::ranges::fill(ends, 0);
    for (const PlacedChange& change : changes) ++ends[digit(change)];
    if (ends[digit(changes.front())] == changes.size()) continue;
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    for (std::size_t i = changes.size(); i-- > 0;) other[--ends[digit(changes[i])]] = changes[i];
    changes.swap(other);
  }
}

void sort_equal_places(std::vector<PlacedChange>& changes) {
  for (auto first = changes.begin(), last = first; first != changes.end(); first = last) {
    while (last != changes.end() && last->place == first->place) ++last;
    if (last - first > 1) std::sort(first, last, comes_before);
  }
}

void sort_changes(std::vector<PlacedChange>& changes, std::vector<PlacedChange>& other) {
  constexpr std::size_t kMany = 4096;
  if (changes.size() < kMany) return std::sort(changes.begin(), changes.end(), comes_before);
  sort_by_digits(changes, other);
  sort_equal_places(changes);
}

// `changes`: sorted.
std::vector<MemoryUse> curve(Bytes resident, std::span<const PlacedChange> changes) {
  std::vector<MemoryUse> result = {{Seconds{0}, resident}};
  result.reserve(changes.size() + 1);
  for (const PlacedChange& placed : changes) {
    const Change& change = placed.change;
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

/// How the memory of devices changes, of those of which it is asked; by device, not in order.
class MemoryChanges {
 public:
  MemoryChanges(const Plan& plan, const Timeline& timeline, const std::vector<bool>& asked)
      : resident_(plan.device_count()), ends_(plan.device_count() + 1) {
    for (const Buffer& buffer : plan.buffers()) {
      if (!asked[buffer.device()]) continue;
      if (plan.stays(buffer)) resident_[buffer.device()] += buffer.bytes;
      if (!plan.stays(buffer)) ends_[buffer.device() + 1] += 2 * timeline.steps();
    }
    std::partial_sum(ends_.begin(), ends_.end(), ends_.begin());
    changes_.resize(ends_.back());
    std::vector<std::size_t> next(ends_.begin(), ends_.end() - 1);
    for (std::size_t i = 0; i < plan.buffers().size(); ++i) {
      const Buffer& buffer = plan.buffers()[i];
      if (!asked[buffer.device()] || plan.stays(buffer)) continue;
      for (std::size_t step = 0; step < timeline.steps(); ++step) {
        const Lifetime kept = lifetime(plan, timeline, step, BufferId(i));
        changes_[next[buffer.device()]++] = {kept.from, buffer.bytes};
        changes_[next[buffer.device()]++] = {kept.until, Bytes{0} - buffer.bytes};
      }
    }
  }

  std::vector<MemoryUse> curve_of(std::size_t device) {
    placed_.clear();
    for (std::size_t i = ends_[device]; i < ends_[device + 1]; ++i) {
      const Change& change = changes_[i];
      const double place = 0.0 + place_in_time(change.at, change.bytes);  // no negative zero
      assert(place >= 0);
      placed_.push_back({std::bit_cast<std::uint64_t>(place), change});
    }
    sort_changes(placed_, other_);
    return curve(resident_[device], placed_);
  }

 private:
  std::vector<Bytes> resident_;
  std::vector<std::size_t> ends_;  // of each device's changes
  std::vector<Change> changes_;
  std::vector<PlacedChange> placed_, other_;  // of the device at hand
};

Bytes most_of(std::span<const MemoryUse> curve) {
  Bytes most;
  for (const MemoryUse& use : curve) most = std::max(most, use.bytes);
  return most;
}

}  // namespace

std::vector<std::vector<MemoryUse>> memory_curves(const Plan& plan, const Timeline& timeline) {
  MemoryChanges changes(plan, timeline, std::vector<bool>(plan.device_count(), true));
  std::vector<std::vector<MemoryUse>> curves;
  for (std::size_t d = 0; d < plan.device_count(); ++d) curves.push_back(changes.curve_of(d));
  return curves;
}

std::vector<Bytes> peak_memory(const Plan& plan, const Timeline& timeline) {
  MemoryChanges changes(plan, timeline, std::vector<bool>(plan.device_count(), true));
  std::vector<Bytes> peaks;
  for (std::size_t d = 0; d < plan.device_count(); ++d) {
    peaks.push_back(most_of(changes.curve_of(d)));
  }
  return peaks;
}

std::vector<LiveTensor> live_tensors(const Plan& plan, const Timeline& timeline, DeviceId device,
                                     double at) {
  std::vector<LiveTensor> live;
  for (std::uint32_t i = 0; i < plan.buffers().size(); ++i) {
    const Buffer& buffer = plan.buffers()[i];
    if (buffer.device != plan.representative(device)) continue;
    if (plan.stays(buffer)) {
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
  if (plan.stays(plan[buffer])) return false;
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
  const Seconds at = time_of_peak(MemoryChanges(plan, timeline, asked).curve_of(shown()));
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

DeviceId fullest(std::span<const Bytes> peaks) {
  return DeviceId(static_cast<std::size_t>(std::ranges::max_element(peaks) - peaks.begin()));
}

std::string_view kept_name(const Buffer& buffer) {
  return buffer.kind == BufferKind::activation ? "output" : name(buffer.kind);
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
