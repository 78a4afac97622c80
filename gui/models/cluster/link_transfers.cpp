#include "gui/models/cluster/link_transfers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

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

constexpr std::array<const char*, LinkTransferTable::kColumns> kNames = {"Layer", "Phase", "Bytes",
                                                                         "From",  "To",    "Tasks"};

}  // namespace

std::vector<LinkTransfer> link_transfers(const Scene& scene, LinkId link,
                                         const std::optional<TimeRange>& range) {
  return Gatherer(scene, link, range).gather();
}

void LinkTransferTable::show(ScenePtr scene, std::vector<LinkTransfer> rows) {
  beginResetModel();
  scene_ = std::move(scene);
  rows_ = std::move(rows);
  endResetModel();
}

double LinkTransferTable::total_bytes() const {
  double total = 0;
  for (const LinkTransfer& row : rows_) total += row.bytes;
  return total;
}

QString LinkTransferTable::csv() const {
  QString csv = QStringLiteral("layer,phase,bytes,from,to,tasks\n");
  for (const LinkTransfer& row : rows_) {
    QStringList cells;
    for (int column = 0; column < kColumns; ++column) {
      cells << (column == bytes ? QString::number(row.bytes, 'f', 0) : text(row, column));
    }
    csv += cells.join(QLatin1Char(',')) + QLatin1Char('\n');
  }
  return csv;
}

int LinkTransferTable::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int LinkTransferTable::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(kColumns);
}

QVariant LinkTransferTable::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  if (role == Qt::DisplayRole)
    return text(rows_[static_cast<std::size_t>(index.row())], index.column());
  const bool number = index.column() == bytes || index.column() == tasks;
  if (role == Qt::TextAlignmentRole) {
    return QVariant(int((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
  }
  return {};
}

QVariant LinkTransferTable::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section >= kColumns) return {};
  return tr(kNames[static_cast<std::size_t>(section)]);
}

QString LinkTransferTable::text(const LinkTransfer& row, int column) const {
  const auto device = [&](const std::optional<DeviceId>& id) {
    return id ? QString::fromStdString(scene_->input.cluster[*id].name)
              : counted(row.devices, tr("device"));
  };
  switch (column) {
    case layer:
      return row.layer.valid() ? QString::fromStdString(scene_->input.graph[row.layer].name)
                               : QString();
    case phase:
      if (row.kind == WorkKind::transfer) return row.backward ? tr("gradient") : tr("forward");
      return row.kind == WorkKind::sync ? tr("synchronisation") : tr("statistics");
    case bytes:
      return human_bytes({std::llround(row.bytes)});
    case from:
      return device(row.from);
    case to:
      return row.to ? device(row.to) : tr("together");
    default:
      return QString::number(row.count);
  }
}

bool LinkTransferTable::before(const LinkTransfer& a, const LinkTransfer& b, int column) const {
  if (column == bytes) return a.bytes < b.bytes;
  if (column == tasks) return a.count < b.count;
  if (column == layer) return a.layer < b.layer;
  return text(a, column) < text(b, column);
}

void LinkTransferTable::sort(int column, Qt::SortOrder order) {
  if (column < 0 || column >= kColumns) return;
  emit layoutAboutToBeChanged();
  std::stable_sort(rows_.begin(), rows_.end(), [&](const LinkTransfer& a, const LinkTransfer& b) {
    return order == Qt::AscendingOrder ? before(a, b, column) : before(b, a, column);
  });
  emit layoutChanged();
}

}  // namespace strata::gui
