#pragma once

// The tasks that explain why a prediction was wrong: the rows of a Comparison, a line each. All its
// differences have one sign: predicted less measured, below 0 where the prediction was too short.
// Lives in the window's thread.

#include <optional>
#include <vector>

#include "gui/models/row_table.h"
#include "gui/models/scene.h"

namespace strata::gui {

/// A row of a Comparison, with what takes a look at every task.
struct ExplainedError {
  ErrorRow row;
  QString title;  ///< as each of its tasks is called
  TaskId worst;   ///< its task whose duration was predicted worst
};
/// The largest share of the errors first. Pure; thread-safe.
std::vector<ExplainedError> explained_errors(const Measured& measured);

/// What was measured may be null where there are no rows.
class ErrorTable : public RowTable<MeasuredPtr, ExplainedError> {
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

  const ErrorRow& row(int index) const { return at(index).row; }
  /// Where a task is counted; none for joins.
  std::optional<int> row_of(TaskId task) const;
  /// Its task whose duration was predicted worst.
  TaskId worst_task(int index) const { return at(index).worst; }

 private:
  const ExplainedError& at(int index) const { return rows()[static_cast<std::size_t>(index)]; }
};

}  // namespace strata::gui
