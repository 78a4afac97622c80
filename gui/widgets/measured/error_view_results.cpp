// What predicted and measured shows of an outcome, and how its picture and its table lead to each
// other.

#include <QThread>

#include "gui/models/measured/measured_steps.h"
#include "gui/models/text.h"
#include "gui/widgets/measured/error_view.h"

namespace strata::gui {

void ErrorView::show_measured() {
  const MeasuredPtr& measured = workspace().measured();
  if (shown_ && shown_->outcome.measured != measured) shown_.reset();
  if (shown_) {
    canvas_->show_recordings(shown_->recordings.predicted, shown_->recordings.measured);
    model_->show(measured, shown_->errors);
  } else {
    canvas_->show_recordings(nullptr, nullptr);
    model_->show(nullptr, {});
  }
  table_->setVisible(shown_.has_value());
  show_tolerance();
  show_numbers();
}

void ErrorView::show_numbers() {
  numbers_->setVisible(shown_.has_value());
  heading_->show_outcome(shown_ ? std::optional(shown_->outcome) : std::nullopt);
  QStringList doubted;
  QString what;
  if (shown_) {
    const auto cores = static_cast<std::size_t>(std::max(QThread::idealThreadCount(), 0));
    for (const std::string& doubt : gui::doubts(shown_->outcome, cores)) {
      doubted << QString::fromStdString(doubt);
    }
    const Measured& measured = *shown_->outcome.measured;
    shown_step_->setText(
        tr("Shown: %1").arg(in_symbols(text_of(measured_steps(measured.measured)))));
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
  if (recording && shown_ && tolerance_->value() > 0) {
    beyond = labels_beyond(*recording, *shown_->outcome.measured, tolerance_->value() / 100.0);
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
  if (!shown_ || !measured) return;
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
  if (!picked || !shown_) return;
  const Slice& slice = canvas_->recording(picked->side)->at(picked->place);
  if (const auto row = model_->row_of(TaskId(slice.id))) table_->pick(*row);
}

}  // namespace strata::gui
