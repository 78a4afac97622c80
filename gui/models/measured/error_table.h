#pragma once

// The tasks that explain why a prediction was wrong: the rows of a Comparison, a line each, the
// largest error first. Lives in the window's thread.

#include <QAbstractTableModel>
#include <string>

#include "gui/models/scene.h"

namespace strata::gui {

class ErrorTable : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column {
    kTask,
    kCount,
    kPredicted,
    kMeasured,
    kDifference,
    kError,
    kShare,
    kWaiting,
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
  /// Its task whose duration was predicted worst.
  TaskId worst_task(int index) const;
  /// With a first line of names; times in seconds.
  std::string csv() const;

 private:
  QString title(const ErrorRow& row) const;
  QVariant number(const ErrorRow& row, int column) const;
  QString text(const ErrorRow& row, int column) const;

  MeasuredPtr measured_;
};

}  // namespace strata::gui
