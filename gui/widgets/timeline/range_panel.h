#pragma once

// What happens in the stretch of time that is measured, as a table beneath the timeline: by layer,
// by kind of work or by device. Hidden where nothing is measured.

#include <QComboBox>
#include <optional>

#include "gui/models/timeline/range_sums.h"
#include "gui/models/workspace.h"
#include "gui/widgets/elided_label.h"
#include "gui/widgets/fitted_table.h"

namespace strata::gui {

class RangePanel : public QWidget {
  Q_OBJECT

 public:
  explicit RangePanel(Workspace& workspace, QWidget* parent = nullptr);

  QSize sizeHint() const override { return {400, 14 * fontMetrics().height()}; }
  QSize minimumSizeHint() const override { return {100, 7 * fontMetrics().height()}; }

  /// Added up in the background. Either may be missing: then nothing is shown.
  void show_range(const RecordingPtr& recording, const std::optional<TimeRange>& range);

  const RangeSumTable& sums() const { return *model_; }
  FittedTable& table() const { return *table_; }
  QComboBox& by() const { return *by_; }
  const QLabel& heading() const { return *heading_; }

 signals:
  void layer_picked(strata::LayerId layer);

 private:
  void add_up();
  void show_sums(const TimeRange& range, const RangeSums& sums);

  Workspace& workspace_;
  RecordingPtr recording_;
  std::optional<TimeRange> range_;
  ElidedLabel* heading_;
  QComboBox* by_;
  RangeSumTable* model_;
  FittedTable* table_;
};

}  // namespace strata::gui
