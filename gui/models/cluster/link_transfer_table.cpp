#include "gui/models/cluster/link_transfer_table.h"

#include <QStringList>
#include <array>
#include <cmath>
#include <utility>

#include "gui/models/csv.h"
#include "gui/models/text.h"

namespace strata::gui {
namespace {

constexpr std::array<TableHeading, LinkTransferTable::kColumns> kTransferHeadings = {{
    {"Layer", "For which it crosses the link", "layer"},
    {"Phase", "Forward, as a gradient, or to keep replicas the same", "phase"},
    {"Bytes", "In the range of time; of one step where none is picked", "bytes", true},
    {"From", "", "from"},
    {"To", "", "to"},
    {"Tasks", "How many tasks move them", "tasks", true},
}};

}  // namespace

LinkTransferTable::LinkTransferTable(QObject* parent) : SortableTable(kTransferHeadings, parent) {}

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

std::function<QString()> LinkTransferTable::csv_later() const {
  return [scene = scene_, rows = rows_, head = csv_head()] {
    QString csv = head;
    for (const LinkTransfer& row : rows) {
      QStringList cells;
      for (int column = 0; column < kColumns; ++column) {
        cells << (column == bytes ? QString::number(row.bytes, 'f', 0) : text(*scene, row, column));
      }
      csv += csv_line(cells);
    }
    return csv;
  };
}

int LinkTransferTable::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

QVariant LinkTransferTable::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  if (role == Qt::DisplayRole)
    return text(*scene_, rows_[static_cast<std::size_t>(index.row())], index.column());
  if (role == Qt::ToolTipRole && index.column() == bytes)
    return tr("in %1").arg(counted(rows_[static_cast<std::size_t>(index.row())].count, tr("task")));
  return HeadedTable::data(index, role);
}

QString LinkTransferTable::text(const Scene& scene, const LinkTransfer& row, int column) {
  const auto device = [&](const std::optional<DeviceId>& id) {
    return id ? QString::fromStdString(scene.input.cluster[*id].name)
              : counted(row.devices, tr("device"));
  };
  switch (column) {
    case layer:
      return row.layer.valid() ? QString::fromStdString(scene.input.graph[row.layer].name)
                               : QString();
    case phase:
      if (row.kind == WorkKind::transfer) return row.backward ? tr("gradient") : tr("forward");
      return row.kind == WorkKind::sync ? tr("synchronisation") : tr("statistics");
    case bytes:
      return human_bytes({std::llround(row.bytes)});
    case from:
      return device(row.from);
    case to:
      return row.to ? device(row.to) : QString();
    default:
      return QString::number(row.count);
  }
}

bool LinkTransferTable::before(const LinkTransfer& a, const LinkTransfer& b, int column) const {
  if (column == bytes) return a.bytes < b.bytes;
  if (column == tasks) return a.count < b.count;
  if (column == layer) return a.layer < b.layer;
  return text(*scene_, a, column) < text(*scene_, b, column);
}

void LinkTransferTable::sort(int column, Qt::SortOrder order) {
  if (column < 0 || column >= kColumns) return;
  sort_rows(rows_, [&](const LinkTransfer& a, const LinkTransfer& b) {
    return order == Qt::AscendingOrder ? before(a, b, column) : before(b, a, column);
  });
}

}  // namespace strata::gui
