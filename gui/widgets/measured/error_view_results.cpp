// What predicted and measured shows of an outcome, and how its picture and its table lead to each
// other.

#include <QThread>

#include "gui/models/text.h"
#include "gui/widgets/measured/error_view.h"

namespace strata::gui {

void ErrorView::show_measured() {
  const MeasuredPtr& measured = workspace().measured();
  if (outcome_ && outcome_->measured != measured) outcome_.reset();
  if (outcome_) {
    const ErrorRecordings recordings = record_errors(measured);
    canvas_->show_recordings(recordings.predicted, recordings.measured);
  } else {
    canvas_->show_recordings(nullptr, nullptr);
  }
  model_->set_measured(outcome_ ? measured : nullptr);
  table_->setVisible(outcome_.has_value());
  show_tolerance();
  show_numbers();
}

void ErrorView::show_numbers() {
  numbers_->setVisible(outcome_.has_value());
  heading_->show_outcome(outcome_);
  QStringList doubted;
  QString what;
  if (outcome_) {
    const auto cores = static_cast<std::size_t>(std::max(QThread::idealThreadCount(), 0));
    for (const std::string& doubt : gui::doubts(*outcome_, cores)) {
      doubted << QString::fromStdString(doubt);
    }
    const Measured& measured = *outcome_->measured;
    what = tr("%1, %2 on %3, batch %4")
               .arg(QString::fromStdString(measured.graph.name()),
                    QString::fromStdString(measured.strategy),
                    QString::fromStdString(measured.devices))
               .arg(measured.graph.batch());
  }
  doubts_->setText(doubted.join(QLatin1Char(' ')));
  doubts_->setVisible(!doubted.isEmpty());
  bar_->show_what(what);
}

void ErrorView::show_tolerance() {
  std::vector<bool> beyond;
  const RecordingPtr& recording = canvas_->recording(0);
  if (recording && outcome_ && tolerance_->value() > 0) {
    beyond = labels_beyond(*recording, *outcome_->measured, tolerance_->value() / 100.0);
  }
  canvas_->mark_labels(beyond);
}

void ErrorView::jump_to_worst() {
  if (!table_->picked()) table_->sortByColumn(ErrorTable::kShare, Qt::DescendingOrder);
  table_->pick_next();
}

// The row's worst task, measured, comes into view.
void ErrorView::on_row(int row) {
  const RecordingPtr& measured = canvas_->recording(1);
  if (!outcome_ || !measured) return;
  const auto selected = canvas_->selected();
  if (selected) {
    const Slice& slice = canvas_->recording(selected->side)->at(selected->place);
    if (model_->row_of(TaskId(slice.id)) == row) return;
  }
  const TaskId worst = model_->worst_task(row);
  canvas_->select(SliceAddress{1, measured->place(static_cast<std::uint32_t>(worst()))}, true);
}

void ErrorView::on_picked() {
  const auto picked = canvas_->selected();
  if (!picked || !outcome_) return;
  const Slice& slice = canvas_->recording(picked->side)->at(picked->place);
  if (const auto row = model_->row_of(TaskId(slice.id))) table_->pick(*row);
}

}  // namespace strata::gui
