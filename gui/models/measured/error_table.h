#pragma once

// The tasks that explain why a prediction was wrong: the rows of a Comparison, a line each. All its
// differences have one sign: predicted less measured, below 0 where the prediction was too short.
// Lives in the window's thread.

#include <optional>
#include <string>
#include <vector>

#include "gui/models/scene.h"
#include "gui/models/sortable_table.h"

namespace strata::gui {

/// A row of a Comparison, with what takes a look at every task.
struct ExplainedError {
  ErrorRow row;
  QString title;  ///< as each of its tasks is called
  TaskId worst;   ///< its task whose duration was predicted worst
};
/// The largest share of the errors first. Pure; thread-safe.
std::vector<ExplainedError> explained_errors(const Measured& measured);

class ErrorTable : public SortableTable {
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

  explicit ErrorTable(QObject* parent = nullptr);

  /// `measured` may be null where there are no rows.
  void show(MeasuredPtr measured, std::vector<ExplainedError> rows);

  int rowCount(const QModelIndex& parent = {}) const override;
  /// The numbers behind the texts are in Qt::UserRole; times in seconds.
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  void sort(int column, Qt::SortOrder order) override;

  const ErrorRow& row(int index) const { return at(index).row; }
  /// Where a task is counted; none for joins.
  std::optional<int> row_of(TaskId task) const;
  /// Its task whose duration was predicted worst.
  TaskId worst_task(int index) const { return at(index).worst; }
  /// With a first line of names; times in seconds.
  std::string csv() const;

 private:
  const ExplainedError& at(int index) const { return rows_[static_cast<std::size_t>(index)]; }
  static QString text(const ExplainedError& error, int column);

  MeasuredPtr measured_;
  std::vector<ExplainedError> rows_;
};

}  // namespace strata::gui
