#pragma once

// A table whose columns are known beforehand: what each is called, what that means, and what it is
// called in a CSV. Columns of numbers are aligned at the right. Lives in the window's thread.

#include <QAbstractTableModel>
#include <QStringList>
#include <span>

#include "gui/models/csv.h"

namespace strata::gui {

struct TableHeading {
  const char *title, *tip;  ///< for people; a tip may be empty
  const char* csv = "";     ///< where the CSV has the same columns
  bool number = false;
};

class HeadedTable : public QAbstractTableModel {
 public:
  /// `headings` must outlive this.
  HeadedTable(std::span<const TableHeading> headings, QObject* parent)
      : QAbstractTableModel(parent), headings_(headings) {}

  int columnCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : static_cast<int>(headings_.size());
  }
  QVariant headerData(int section, Qt::Orientation orientation,
                      int role = Qt::DisplayRole) const override {
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
    const TableHeading& heading = headings_[static_cast<std::size_t>(section)];
    if (role == Qt::DisplayRole) return tr(heading.title);
    if (role == Qt::ToolTipRole) return tr(heading.tip);
    return role == Qt::TextAlignmentRole ? side_of(section) : QVariant();
  }
  /// What a table says of its columns as a whole; its rows are its own.
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override {
    return role == Qt::TextAlignmentRole ? side_of(index.column()) : QVariant();
  }

 protected:
  QString csv_head() const {
    QStringList names;
    for (const TableHeading& heading : headings_) names << QString::fromLatin1(heading.csv);
    return csv_line(names);
  }

 private:
  QVariant side_of(int column) const {
    const bool right = headings_[static_cast<std::size_t>(column)].number;
    return int((right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  }

  std::span<const TableHeading> headings_;
};

}  // namespace strata::gui
