#include "gui/models/cluster/link_transfer_table.h"

#include <QStringList>
#include <array>
#include <cmath>
#include <utility>

#include "gui/models/csv.h"
#include "gui/models/text.h"

namespace strata::gui {
namespace {

constexpr std::array<const char*, LinkTransferTable::kColumns> kNames = {"Layer", "Phase", "Bytes",
                                                                         "From",  "To",    "Tasks"};

}  // namespace

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
    csv += csv_line(cells);
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
  if (role == Qt::ToolTipRole && index.column() == bytes)
    return tr("in %1").arg(counted(rows_[static_cast<std::size_t>(index.row())].count, tr("task")));
  const bool number = index.column() == bytes || index.column() == tasks;
  if (role == Qt::TextAlignmentRole) {
    return QVariant(int((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
  }
  return {};
}

QVariant LinkTransferTable::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= kColumns) return {};
  if (role != Qt::DisplayRole) return {};
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
      return row.to ? device(row.to) : QString();
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
  sort_rows(rows_, [&](const LinkTransfer& a, const LinkTransfer& b) {
    return order == Qt::AscendingOrder ? before(a, b, column) : before(b, a, column);
  });
}

}  // namespace strata::gui
