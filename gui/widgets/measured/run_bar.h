#pragma once

// What runs for real, and on what: the fields above predicted and measured, and how far a run is.

#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QSpinBox>

#include "gui/models/jobs.h"
#include "gui/models/measured/real_run.h"
#include "gui/widgets/elided_label.h"

namespace strata::gui {

class RunBar : public QWidget {
  Q_OBJECT

 public:
  explicit RunBar(QWidget* parent = nullptr);

  RealRun request(const Document& document) const;
  /// Null: nothing runs, and something can where `able`.
  void show_state(const JobState* running, bool able);
  /// It was called off, and ends as soon as it can: with the layer or the task that is at work.
  void show_stopping();
  /// What was run, where nothing runs.
  void show_what(const QString& what);

  QLineEdit& devices() const { return *devices_; }
  QSpinBox& batch() const { return *batch_; }
  QSpinBox& rounds() const { return *rounds_; }
  QPushButton& button() const { return *button_; }
  const QProgressBar& progress() const { return *progress_; }
  const QLabel& what() const { return *what_; }

 signals:
  void run_or_stop_wanted();

 private:
  QLineEdit* devices_;
  QSpinBox* batch_;
  QSpinBox* rounds_;
  QPushButton* button_;
  QProgressBar* progress_;
  ElidedLabel* what_;
  bool stopping_ = false;
};

}  // namespace strata::gui
