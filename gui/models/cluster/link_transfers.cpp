#include "gui/models/cluster/link_transfers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "gui/models/csv.h"
#include "gui/models/text.h"

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

/// What moves in a step and crosses a link, or each of those that it stands for: a piece, or all
/// that a group sends over it.
struct Crossing {
  LinkId link;
  TaskId task;  ///< of a group the first: all participants end together
  std::optional<DeviceId> from, to;
  std::size_t devices = 0;  ///< of the group
  double bytes = 0;
  double alike = 1;  ///< so many such pieces
};

template <class Visit>
void for_each_piece(const Plan& plan, const Cluster& cluster, const Visit& visit) {
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const Task& task = plan[TaskId(i)];
    if (task.kind != TaskKind::transfer) continue;
    const auto alike = static_cast<double>(plan.alike(task));
    for (const Piece& piece : plan.pieces(plan.transfers()[task.detail])) {
      if (piece.from == task.device || piece.bytes.value == 0) continue;
      const auto bytes = static_cast<double>(piece.bytes.value);
      for (const LinkId link : cluster.route(piece.from, task.device)) {
        const double on_each = alike / static_cast<double>(plan.members(link));
        visit(Crossing{plan.representative(link), TaskId(i), piece.from, task.device, 0,
                       bytes * on_each, on_each});
      }
    }
  }
}

template <class Visit>
void for_each_group(const Plan& plan, const Visit& visit) {
  for (const Group& group : plan.groups()) {
    const GroupShape& shape = plan.group_shapes()[group.shape];
    std::map<LinkId, double> bytes;
    for (const CollectivePhase& phase : shape.phases) {
      for (const LinkLoad& load : phase.loads) {
        bytes[load.link] +=
            load.weight * phase.bytes_per_byte * static_cast<double>(group.bytes.value);
      }
    }
    for (const auto& [link, sum] : bytes) {
      if (sum > 0) visit(Crossing{link, group.tasks.front(), {}, {}, shape.devices.size(), sum});
    }
  }
}

template <class Visit>
void for_each_crossing(const Scene& scene, const Visit& visit) {
  for_each_piece(scene.prediction.plan, scene.input.cluster, visit);
  for_each_group(scene.prediction.plan, visit);
}

// A task crosses many links, one after another: what was found of the last one stands.
class TimesOfTasks {
 public:
  TimesOfTasks(const Scene& scene, const std::optional<TimeRange>& range)
      : timeline_(scene.prediction.timeline), range_(range) {}

  const Times& operator()(TaskId task) {
    if (task != task_) times_ = times_in(timeline_, task, range_);
    task_ = task;
    return times_;
  }

 private:
  const Timeline& timeline_;
  std::optional<TimeRange> range_;
  TaskId task_;
  Times times_;
};

std::size_t rounded(double count) {
  return static_cast<std::size_t>(std::llround(count));
}

Key key_of_row(const Plan& plan, const Crossing& crossing) {
  const Task& task = plan[crossing.task];
  const bool backward = crossing.devices > 0 || !is_forward(task.phase);
  return {task.layer, work_kind(task), backward, crossing.from, crossing.to, crossing.devices};
}

using Table = LinkTransferTable;

QString device_text(const ScenePtr& scene, const LinkTransfer& row,
                    const std::optional<DeviceId>& id) {
  return id ? QString::fromStdString(scene->input.cluster[*id].name)
            : counted(row.devices, Table::tr("device"));
}

TableCell layer_cell(const ScenePtr& scene, const LinkTransfer& row) {
  const LayerId id = row.layer;
  const QString name = id.valid() ? QString::fromStdString(scene->input.graph[id].name) : QString();
  return {name, id.valid() ? static_cast<qlonglong>(id()) : std::numeric_limits<qlonglong>::max()};
}

TableCell phase_cell(const ScenePtr& /*scene*/, const LinkTransfer& row) {
  if (row.kind == WorkKind::transfer) {
    return {row.backward ? Table::tr("gradient") : Table::tr("forward")};
  }
  return {row.kind == WorkKind::sync ? Table::tr("synchronisation") : Table::tr("statistics")};
}

TableCell bytes_cell(const ScenePtr& /*scene*/, const LinkTransfer& row) {
  const QString tip = Table::tr("in %1").arg(counted(row.count, Table::tr("task")));
  return {human_bytes({std::llround(row.bytes)}),
          row.bytes,
          tip,
          {},
          QString::number(row.bytes, 'f', 0)};
}

constexpr std::array<Table::Spec, Table::kColumns> kTransferColumns = {{
    {"Layer", "For which it crosses the link", "layer", false, layer_cell},
    {"Phase", "Forward, as a gradient, or to keep replicas the same", "phase", false, phase_cell},
    {"Bytes", "In the range of time; of one step where none is picked", "bytes", true, bytes_cell},
    {"From", "", "from", false,
     [](auto& scene, auto& row) { return TableCell{device_text(scene, row, row.from)}; }},
    {"To", "", "to", false,
     [](auto& scene, auto& row) {
       return TableCell{row.to ? device_text(scene, row, row.to) : QString()};
     }},
    {"Tasks", "How many tasks move them", "tasks", true,
     [](auto& /*scene*/, auto& row) {
       return TableCell{QString::number(row.count), static_cast<qlonglong>(row.count)};
     }},
}};

}  // namespace

std::vector<LinkTransfer> link_transfers(const Scene& scene, LinkId link,
                                         const std::optional<TimeRange>& range) {
  struct Sum {
    double bytes = 0, count = 0;
  };
  std::map<Key, Sum> sums;
  const LinkId same = scene.prediction.plan.representative(link);
  TimesOfTasks times(scene, range);
  for_each_crossing(scene, [&](const Crossing& crossing) {
    if (crossing.link != same) return;
    const Times& when = times(crossing.task);
    if (when.count == 0) return;
    Sum& sum = sums[key_of_row(scene.prediction.plan, crossing)];
    sum.bytes += crossing.bytes * when.share;
    sum.count += crossing.alike * static_cast<double>(when.count);
  });
  std::vector<LinkTransfer> rows;
  rows.reserve(sums.size());
  for (const auto& [key, sum] : sums) {
    rows.push_back({key.layer, key.kind, key.backward, key.from, key.to, key.devices, sum.bytes,
                    rounded(sum.count)});
  }
  return rows;
}

std::vector<std::size_t> transfers_by_link(const Scene& scene,
                                           const std::optional<TimeRange>& range) {
  std::vector<double> sums(scene.input.cluster.links().size());
  TimesOfTasks times(scene, range);
  for_each_crossing(scene, [&](const Crossing& crossing) {
    sums[crossing.link()] += crossing.alike * static_cast<double>(times(crossing.task).count);
  });
  std::vector<std::size_t> counts;
  counts.reserve(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    counts.push_back(rounded(sums[scene.prediction.plan.representative(LinkId(i))()]));
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

LinkTransferTable::LinkTransferTable(QObject* parent) : RowTable(kTransferColumns, parent) {}

double LinkTransferTable::total_bytes() const {
  double total = 0;
  for (const LinkTransfer& row : rows()) total += row.bytes;
  return total;
}

}  // namespace strata::gui
