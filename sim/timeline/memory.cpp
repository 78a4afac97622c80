#include "sim/timeline/memory.h"

#include <algorithm>
#include <limits>

namespace strata {
namespace {

struct Change {
  Seconds at;
  Bytes bytes;
};

std::vector<MemoryUse> curve(Bytes resident, std::vector<Change>& changes) {
  // What is freed at an instant is gone before what starts at that instant is there.
  std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return a.at != b.at ? a.at < b.at : a.bytes < b.bytes;
  });
  std::vector<MemoryUse> result = {{Seconds{0}, resident}};
  for (const Change& change : changes) {
    const Bytes now = result.back().bytes + change.bytes;
    if (result.back().at == change.at && result.size() > 1 && change.bytes < Bytes{0}) {
      result.back().bytes = now;
    } else {
      result.push_back({change.at, now});
    }
  }
  return result;
}

}  // namespace

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

std::vector<std::vector<MemoryUse>> memory_curves(const Plan& plan, const Timeline& timeline) {
  std::vector<Bytes> resident(plan.device_count());
  std::vector<std::vector<Change>> changes(plan.device_count());
  std::vector<std::size_t> counts(plan.device_count());
  for (const Buffer& buffer : plan.buffers()) ++counts[buffer.device()];
  for (std::size_t d = 0; d < counts.size(); ++d) {
    changes[d].reserve(2 * counts[d] * timeline.steps());
  }
  for (std::size_t i = 0; i < plan.buffers().size(); ++i) {
    const Buffer& buffer = plan.buffers()[i];
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
  std::vector<std::vector<MemoryUse>> curves;
  for (std::size_t device = 0; device < plan.device_count(); ++device) {
    curves.push_back(curve(resident[device], changes[device]));
  }
  return curves;
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

}  // namespace strata
