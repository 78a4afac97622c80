#include "gui/models/cluster/link_transfers.h"

#include <algorithm>
#include <map>
#include <utility>

namespace strata::gui {
namespace {

// What rows are gathered by.
struct Key {
  LayerId layer;
  WorkKind kind;
  bool backward;
  std::optional<DeviceId> from, to;
  std::size_t devices;
  auto operator<=>(const Key&) const = default;
};

class Gatherer {
 public:
  Gatherer(const Scene& scene, LinkId link, const std::optional<TimeRange>& range)
      : scene_(scene), plan_(scene.prediction.plan), link_(link), range_(range) {}

  std::vector<LinkTransfer> gather() {
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      const Task& task = plan_[TaskId(i)];
      if (task.kind == TaskKind::transfer) add_pieces(TaskId(i), task);
    }
    for (const Group& group : plan_.groups()) add_group(group);
    std::vector<LinkTransfer> rows;
    for (const auto& [key, sum] : sums_) {
      rows.push_back(
          {key.layer, key.kind, key.backward, key.from, key.to, key.devices, sum.bytes, sum.count});
    }
    return rows;
  }

 private:
  struct Sum {
    double bytes = 0;
    std::size_t count = 0;
  };
  // How often the task is in the range, parts counted as parts; and in how many steps at all.
  struct Times {
    double share = 0;
    std::size_t count = 0;
  };

  Times times(TaskId task) const {
    if (!range_) return {1, 1};
    Times times;
    const Timeline& timeline = scene_.prediction.timeline;
    for (std::size_t step = 0; step < timeline.steps(); ++step) {
      const Span& span = timeline.span(step, task);
      const double begin = std::max(span.start, range_->begin).value;
      const double end = std::min(span.end, range_->end).value;
      if (end < begin || (end == begin && span.duration().value > 0)) continue;
      times.share += span.duration().value > 0 ? (end - begin) / span.duration().value : 1;
      ++times.count;
    }
    return times;
  }

  bool crosses(DeviceId from, DeviceId to) {
    const auto [known, fresh] = crosses_.try_emplace({from, to}, false);
    if (!fresh) return known->second;
    const auto route = scene_.input.cluster.route(from, to);
    return known->second = std::find(route.begin(), route.end(), link_) != route.end();
  }

  void add(const Key& key, double bytes, const Times& when) {
    if (when.count == 0 || bytes == 0) return;
    Sum& sum = sums_[key];
    sum.bytes += bytes * when.share;
    sum.count += when.count;
  }

  void add_pieces(TaskId id, const Task& task) {
    std::optional<Times> when;
    for (const Piece& piece : plan_.pieces(plan_.transfers()[task.detail])) {
      if (piece.from == task.device || !crosses(piece.from, task.device)) continue;
      if (!when) when = times(id);
      add({task.layer, work_kind(task), task.phase != Phase::forward, piece.from, task.device, 0},
          static_cast<double>(piece.bytes.value), *when);
    }
  }

  // All participants end together: the first stands for the group.
  void add_group(const Group& group) {
    const GroupShape& shape = plan_.group_shapes()[group.shape];
    double bytes = 0;
    for (const CollectivePhase& phase : shape.phases) {
      for (const LinkLoad& load : phase.loads) {
        if (load.link != link_) continue;
        bytes += load.weight * phase.bytes_per_byte * static_cast<double>(group.bytes.value);
      }
    }
    if (bytes == 0) return;
    const Task& task = plan_[group.tasks.front()];
    add({task.layer, work_kind(task), true, {}, {}, shape.devices.size()}, bytes,
        times(group.tasks.front()));
  }

  const Scene& scene_;
  const Plan& plan_;
  LinkId link_;
  std::optional<TimeRange> range_;
  std::map<std::pair<DeviceId, DeviceId>, bool> crosses_;
  std::map<Key, Sum> sums_;
};

}  // namespace

std::vector<LinkTransfer> link_transfers(const Scene& scene, LinkId link,
                                         const std::optional<TimeRange>& range) {
  return Gatherer(scene, link, range).gather();
}

}  // namespace strata::gui
