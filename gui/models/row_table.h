#pragma once

// A table whose columns are stated once: what each is called for people and in a CSV, what that
// means, and its cell of a row. Numbers are aligned at the right. Rows may refer to a context that
// all share. A view that sorts the table keeps what is picked: persistent indexes move with their
// rows. Lives in the window's thread.

#include <QAbstractTableModel>
#include <QStringList>
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "gui/models/csv.h"

namespace strata::gui {

struct TableCell {
  QString text;       ///< for people
  QVariant plain{};   ///< what is sorted by and, of numbers, written to a CSV; none: the text
  QString tip{};      ///< of this cell alone
  QVariant detail{};  ///< what a delegate needs besides
  QString csv{};      ///< where that is neither the number nor the text
};

template <class Context, class Row>
struct TableColumn {
  const char *title, *tip;  ///< for people; a tip may be empty
  const char* csv;
  bool number;
  TableCell (*cell)(const Context& context, const Row& row);
};

template <class Context, class Row>
class RowTable : public QAbstractTableModel {
 public:
  using Spec = TableColumn<Context, Row>;
  static constexpr int plain = Qt::UserRole, detail = Qt::UserRole + 1;

  /// `columns` must outlive this.
  RowTable(std::span<const Spec> columns, QObject* parent)
      : QAbstractTableModel(parent), columns_(columns) {}

  void show(Context context, std::vector<Row> rows) {
    beginResetModel();
    context_ = std::move(context);
    rows_ = std::move(rows);
    endResetModel();
  }
  const std::vector<Row>& rows() const { return rows_; }

  int rowCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
  }
  int columnCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : static_cast<int>(columns_.size());
  }
  QVariant headerData(int section, Qt::Orientation orientation,
                      int role = Qt::DisplayRole) const override {
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
    if (role == Qt::DisplayRole) return tr(column(section).title);
    if (role == Qt::ToolTipRole) return tr(column(section).tip);
    return role == Qt::TextAlignmentRole ? side_of(section) : QVariant();
  }
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    if (role == Qt::TextAlignmentRole) return side_of(index.column());
    const bool asked =
        role == Qt::DisplayRole || role == Qt::ToolTipRole || role == plain || role == detail;
    if (!asked) return {};
    const TableCell cell = cell_at(index.row(), index.column());
    if (role == Qt::DisplayRole) return cell.text;
    if (role == detail) return cell.detail;
    if (role == plain) return plain_of(cell);
    return cell.tip.isEmpty() ? QVariant() : cell.tip;
  }

  /// Equal rows stay in the order that they have; in both directions numbers stand before texts,
  /// and what is no number (NaN) at the end.
  void sort(int column, Qt::SortOrder direction) override {
    if (column < 0 || column >= columnCount()) return;
    using Places = std::pair<int, SortRank>;
    std::vector<std::pair<Places, QVariant>> keys;
    for (int row = 0; row < rowCount(); ++row) {
      QVariant value = plain_of(cell_at(row, column));
      const Places places(group_of(rows_[std::size_t(row)]), rank_of(value));
      keys.emplace_back(places, std::move(value));
    }
    std::vector<std::size_t> order(rows_.size());  // by new place: the old one
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      if (keys[a].first != keys[b].first) return keys[a].first < keys[b].first;
      if (direction == Qt::DescendingOrder) std::swap(a, b);
      return QVariant::compare(keys[a].second, keys[b].second) == QPartialOrdering::Less;
    });
    arrange(order);
  }

  /// The rows as they stand, to be written by any thread.
  std::function<QString()> csv_later() const {
    return [columns = columns_, context = context_, rows = rows_] {
      QStringList cells;
      for (const Spec& column : columns) cells << QString::fromLatin1(column.csv);
      QString csv = csv_line(cells);
      for (const Row& row : rows) {
        cells.clear();
        for (const Spec& column : columns) cells << csv_text(column, column.cell(context, row));
        csv += csv_line(cells);
      }
      return csv;
    };
  }
  QString csv() const { return csv_later()(); }

 protected:
  /// Rows of a lower group stand first, however they are sorted.
  virtual int group_of(const Row& /*row*/) const { return 0; }

  Context context_{};
  std::vector<Row> rows_;

 private:
  /// Values of one rank have an order, which QVariant::compare() does not give of others.
  enum class SortRank { number, text, nan };
  static SortRank rank_of(const QVariant& value) {
    if (value.typeId() == QMetaType::QString) return SortRank::text;
    return std::isnan(value.toDouble()) ? SortRank::nan : SortRank::number;
  }

  const Spec& column(int place) const { return columns_[static_cast<std::size_t>(place)]; }
  TableCell cell_at(int row, int place) const {
    return column(place).cell(context_, rows_[static_cast<std::size_t>(row)]);
  }
  static QVariant plain_of(const TableCell& cell) {
    return cell.plain.isValid() ? cell.plain : cell.text;
  }
  QVariant side_of(int place) const {
    return int((column(place).number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  }
  static QString csv_text(const Spec& column, const TableCell& cell) {
    if (!cell.csv.isEmpty()) return cell.csv;
    if (!column.number) return cell.text;
    const bool whole = cell.plain.typeId() != QMetaType::Double;
    return whole ? cell.plain.toString()
                 : QString::fromStdString(fmt::format("{}", cell.plain.toDouble()));
  }

  void arrange(const std::vector<std::size_t>& order) {
    emit layoutAboutToBeChanged();  // views make their persistent indexes now
    std::vector<Row> sorted;
    std::vector<int> place(order.size());  // by old place: the new one
    for (const std::size_t old : order) {
      place[old] = static_cast<int>(sorted.size());
      sorted.push_back(std::move(rows_[old]));
    }
    rows_ = std::move(sorted);
    const QModelIndexList before = persistentIndexList();
    QModelIndexList after;
    for (const QModelIndex& old : before) {
      after << index(place[static_cast<std::size_t>(old.row())], old.column());
    }
    changePersistentIndexList(before, after);
    emit layoutChanged();
  }

  std::span<const Spec> columns_;
};

}  // namespace strata::gui
