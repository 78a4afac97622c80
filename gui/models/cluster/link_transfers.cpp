#include "gui/models/cluster/link_transfers.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "gui/models/csv.h"

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

// How often the task is in the range, parts counted as parts; and in how many steps at all.
struct Times {
  double share = 0;
  std::size_t count = 0;
};

Times times_in(const Timeline& timeline, TaskId task, const std::optional<TimeRange>& range) {
  if (!range) return {1, 1};
  Times times;
  for (std::size_t step = 0; step < timeline.steps(); ++step) {
    const Span& span = timeline.span(step, task);
    const double begin = std::max(span.start, range->begin).value;
    const double end = std::min(span.end, range->end).value;
    if (end < begin || (end == begin && span.duration().value > 0)) continue;
    times.share += span.duration().value > 0 ? (end - begin) / span.duration().value : 1;
    ++times.count;
  }
  return times;
}

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
  Times times(TaskId task) const { return times_in(scene_.prediction.timeline, task, range_); }

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

std::vector<std::size_t> transfers_by_link(const Scene& scene,
                                           const std::optional<TimeRange>& range) {
  const Plan& plan = scene.prediction.plan;
  const Cluster& cluster = scene.input.cluster;
  std::vector<std::size_t> counts(cluster.links().size());
  const auto times = [&](TaskId task) {
    return times_in(scene.prediction.timeline, task, range).count;
  };
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const Task& task = plan[TaskId(i)];
    if (task.kind != TaskKind::transfer) continue;
    const std::size_t count = times(TaskId(i));
    for (const Piece& piece : plan.pieces(plan.transfers()[task.detail])) {
      if (piece.from == task.device || piece.bytes.value == 0) continue;
      for (const LinkId link : cluster.route(piece.from, task.device)) counts[link()] += count;
    }
  }
  for (const Group& group : plan.groups()) {
    const std::size_t count = times(group.tasks.front());
    std::set<LinkId> crossed;
    for (const CollectivePhase& phase : plan.group_shapes()[group.shape].phases) {
      for (const LinkLoad& load : phase.loads) {
        if (load.weight * phase.bytes_per_byte > 0) crossed.insert(load.link);
      }
    }
    if (group.bytes.value == 0) continue;
    for (const LinkId link : crossed) counts[link()] += count;
  }
  return counts;
}

std::string print_csv(const Scene& scene, const LinkUse& use,
                      const std::optional<TimeRange>& range) {
  std::string text = "link,bytes,use,transfers\n";
  const std::vector<std::size_t> transfers = transfers_by_link(scene, range);
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    text += fmt::format("{},{:.0f},{},{}\n", csv_cell(scene.input.cluster[LinkId(i)].name),
                        use.bytes[i], use.share[i], transfers[i]);
  }
  return text;
}

}  // namespace strata::gui
