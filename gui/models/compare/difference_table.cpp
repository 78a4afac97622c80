#include "gui/models/compare/difference_table.h"

#include <QStringList>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "gui/models/csv.h"
#include "gui/models/text.h"

namespace strata::gui {
namespace {

constexpr std::array<TableHeading, DifferenceTable::kColumns> kDifferenceHeadings = {{
    {"Layer", "", "layer"},
    {"Baseline", "How the baseline cuts it", "cut_before"},
    {"Now", "How it is cut now", "cut_after"},
    {"Step",
     "What changes in its time on the critical path. The step times differ by all of these and by "
     "what has no row: waiting, the network's inputs",
     "step_change_seconds", true},
    {"Eq. 1", "What changes in its terms of Eq. 1: compute, transfers, synchronisation",
     "eq1_change_seconds", true},
    {"Compute", "What changes in t_C of Eq. 1", "compute_change_seconds", true},
    {"Transfer", "What changes in t_X of Eq. 1", "transfer_change_seconds", true},
    {"Sync", "What changes in t_S of Eq. 1", "sync_change_seconds", true},
    {"Step before", "Its time on the critical path of the baseline's step", "step_before_seconds",
     true},
    {"Step now", "Its time on the critical path of the step", "step_after_seconds", true},
}};

std::optional<Seconds> change_in(const LayerDifference& row, int column) {
  switch (column) {
    case DifferenceTable::compute:
      return row.eq1_after.compute - row.eq1_before.compute;
    case DifferenceTable::transfer:
      return row.eq1_after.transfer - row.eq1_before.transfer;
    case DifferenceTable::sync:
      return row.eq1_after.sync - row.eq1_before.sync;
    case DifferenceTable::eq1:
      return row.eq1_change();
    case DifferenceTable::step:
      return row.step_change();
    default:
      return std::nullopt;
  }
}

QString text_in(const LayerDifference& row, int column) {
  switch (column) {
    case DifferenceTable::layer:
      return QString::fromStdString(row.layer);
    case DifferenceTable::cut_before:
      return QString::fromStdString(row.cut_before);
    case DifferenceTable::cut_after:
      return QString::fromStdString(row.cut_after);
    case DifferenceTable::step_before:
      return row.step_before.value > 0 ? human_seconds(row.step_before) : QString();
    case DifferenceTable::step_after:
      return row.step_after.value > 0 ? human_seconds(row.step_after) : QString();
    default:
      return signed_seconds(*change_in(row, column));
  }
}

double number_in(const LayerDifference& row, int column) {
  if (column == DifferenceTable::step_before) return row.step_before.value;
  if (column == DifferenceTable::step_after) return row.step_after.value;
  return change_in(row, column)->value;
}

}  // namespace

QString signed_seconds(Seconds change) {
  if (std::abs(change.value) < 5e-13) return {};  // a picosecond is rounding
  const QString size = human_seconds({std::abs(change.value)});
  return (change.value > 0 ? QStringLiteral("+") : QStringLiteral("-")) + size;
}

DifferenceTable::DifferenceTable(QObject* parent) : SortableTable(kDifferenceHeadings, parent) {}

void DifferenceTable::show(std::vector<LayerDifference> rows) {
  beginResetModel();
  rows_ = std::move(rows);
  endResetModel();
}

QString DifferenceTable::csv() const {
  QString csv = csv_head();
  for (const LayerDifference& row : rows_) {
    QStringList cells;
    for (int column = 0; column < kColumns; ++column) {
      cells << (column < step ? text_in(row, column)
                              : QString::fromStdString(fmt::format("{}", number_in(row, column))));
    }
    csv += csv_line(cells);
  }
  return csv;
}

int DifferenceTable::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

QVariant DifferenceTable::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const LayerDifference& row = rows_[static_cast<std::size_t>(index.row())];
  const auto change = change_in(row, index.column());
  if (role == Qt::DisplayRole) return text_in(row, index.column());
  if (role == kChangeRole && change) return change->value;
  if (role == Qt::ToolTipRole && index.column() == step) {
    return tr("On the critical path: %1 before, %2 now")
        .arg(human_seconds(row.step_before), human_seconds(row.step_after));
  }
  return HeadedTable::data(index, role);
}

void DifferenceTable::sort(int column, Qt::SortOrder order) {
  if (column < 0 || column >= kColumns) return;
  const auto before = [&](const LayerDifference& a, const LayerDifference& b) {
    if (column == layer) return a.after.value_or(LayerId()) < b.after.value_or(LayerId());
    if (column < step) return text_in(a, column) < text_in(b, column);
    return number_in(a, column) < number_in(b, column);
  };
  sort_rows(rows_, [&](const LayerDifference& a, const LayerDifference& b) {
    if (a.changed() != b.changed()) return a.changed();
    return order == Qt::AscendingOrder ? before(a, b) : before(b, a);
  });
}

}  // namespace strata::gui
