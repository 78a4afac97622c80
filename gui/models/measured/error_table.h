#pragma once

// The tasks that explain why a prediction was wrong: the rows of a Comparison, a line each, the
// largest error first. Lives in the window's thread.

#include <QAbstractTableModel>
#include <optional>
#include <string>
#include <vector>

#include "gui/models/scene.h"

namespace strata::gui {

class ErrorTable : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column {
    kTask,
    kError,
    kPredicted,
    kMeasured,
    kShare,
    kDifference,
    kWaiting,
    kCount,
    kColumns
  };

  explicit ErrorTable(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

  /// Null: no rows.
  void set_measured(MeasuredPtr measured);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  /// Numbers to sort by are in Qt::UserRole.
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation,
                      int role = Qt::DisplayRole) const override;

  const ErrorRow& row(int index) const;
  /// Where a task is counted; none for joins.
  std::optional<int> row_of(TaskId task) const;
  /// Its task whose duration was predicted worst.
  TaskId worst_task(int index) const;
  /// With a first line of names; times in seconds.
  std::string csv() const;

 private:
  QVariant number(int row, int column) const;
  QString text(int row, int column) const;

  MeasuredPtr measured_;
  std::vector<int> row_of_;      // by task; below 0: none
  std::vector<QString> titles_;  // by row
};

}  // namespace strata::gui
