#include "sim/timeline/memory.h"

#include <algorithm>

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

std::vector<std::vector<MemoryUse>> memory_curves(const Plan& plan, const Timeline& timeline) {
  std::vector<Bytes> resident(plan.device_count());
  std::vector<std::vector<Change>> changes(plan.device_count());
  for (const Buffer& buffer : plan.buffers()) {
    if (!buffer.first.valid()) {
      resident[buffer.device()] += buffer.bytes;
      continue;
    }
    for (std::size_t step = 0; step < timeline.steps(); ++step) {
      const Span& first = timeline.span(step, buffer.first);
      Seconds end = first.end;
      for (TaskId user : buffer.users) end = std::max(end, timeline.span(step, user).end);
      changes[buffer.device()].push_back({first.start, buffer.bytes});
      changes[buffer.device()].push_back({end, Bytes{0} - buffer.bytes});
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
