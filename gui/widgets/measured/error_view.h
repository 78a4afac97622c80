#pragma once

// A prediction and what really happened: the strategy runs on this machine's devices, and each task
// stands beside its prediction, coloured by how wrong that was.

#include <QSpinBox>
#include <QTimer>
#include <optional>

#include "gui/models/measured/error_recording.h"
#include "gui/models/measured/real_run.h"
#include "gui/widgets/fitted_table.h"
#include "gui/widgets/measured/run_bar.h"
#include "gui/widgets/measured/step_heading.h"
#include "gui/widgets/timeline/timeline_canvas.h"
#include "gui/widgets/view.h"

namespace strata::gui {

class ErrorView : public View {
  Q_OBJECT

 public:
  explicit ErrorView(Workspace& workspace, QWidget* parent = nullptr);

  QString command() const override;
  QString why_no_command() const override;
  std::vector<KeyHelp> keys() const override;
  QString csv() const override;

  RunBar& run_bar() const { return *bar_; }
  QLineEdit& devices_field() const { return bar_->devices(); }
  const StepHeading& heading() const { return *heading_; }
  /// Which of the measured steps is shown.
  const QLabel& shown_step() const { return *shown_step_; }
  /// What speaks against believing it.
  const QLabel& doubts() const { return *doubts_; }
  TimelineCanvas& canvas() const { return *canvas_; }
  FittedTable& table() const { return *table_; }
  QSpinBox& tolerance_field() const { return *tolerance_; }

 protected:
  bool shows_scene() const override { return false; }

 public slots:
  /// Runs, or calls off what runs.
  void run_or_stop();
  /// The next row of the table, the one with the largest error first.
  void jump_to_worst();

 private:
  QWidget* make_heading();
  QWidget* make_results();
  void follow();
  void start();
  void show_measured();
  void show_numbers();
  void show_state();
  void show_hint(const JobState* running);
  void show_tolerance();
  void on_row(int row);
  void on_picked();

  RunBar* bar_;
  QWidget* numbers_;
  StepHeading* heading_;
  ElidedLabel* shown_step_;
  QSpinBox* tolerance_;
  QLabel* doubts_;
  TimelineCanvas* canvas_;
  ErrorTable* model_;
  FittedTable* table_;
  QTimer clock_;  ///< while something runs: how far it is
  /// A run, and what is made of it to be shown.
  struct Shown {
    RealOutcome outcome;
    ErrorRecordings recordings;
    std::vector<ExplainedError> errors;
  };
  std::optional<Shown> shown_;
};

}  // namespace strata::gui
