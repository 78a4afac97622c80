#pragma once

// A prediction beside its measurement: a step of the steady state each, of those measured the
// median (real_run.h), both beginning where the step before ended. A slice's id is its task;
// its colour says by how much the prediction of its duration was wrong. The measured recording has
// a residual lane for each device, as high as its tasks' errors. Pure; thread-safe.

#include <optional>
#include <utility>
#include <vector>

#include "gui/models/row_table.h"
#include "gui/models/scene.h"
#include "gui/models/timeline/plan_recording.h"

namespace strata::gui {

/// (predicted - measured) / measured, as `strata validate` says it: negative where it took longer
/// than predicted. 0 where neither takes time, 1 where only the predicted one does.
double relative_error(Seconds predicted, Seconds measured);

/// Colours tell errors apart up to this one.
inline constexpr double kLoudestError = 0.5;

struct ErrorRecordings {
  RecordingPtr predicted, measured;
};
ErrorRecordings record_errors(const MeasuredPtr& measured);

/// By label of either recording: those whose row of the comparison is wrong by more than
/// `tolerance`.
std::vector<bool> labels_beyond(const Recording& recording, const Measured& measured,
                                double tolerance);

// The tasks that explain why a prediction was wrong: the rows of a Comparison, a line each. All its
// differences have one sign: predicted less measured, below 0 where the prediction was too short.
// Lives in the window's thread.

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
