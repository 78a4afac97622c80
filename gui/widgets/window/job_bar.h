#pragma once

// What runs in the background, how far it is, and a button that calls it off; a place in the status
// bar. Jobs that end within a blink are not shown.

#include <QHBoxLayout>
#include <QProgressBar>
#include <QTimer>
#include <QToolButton>
#include <QWidget>

#include "gui/models/jobs.h"
#include "gui/widgets/elided_label.h"

namespace strata::gui {

class JobBar : public QWidget {
  Q_OBJECT

 public:
  explicit JobBar(Jobs& jobs, QWidget* parent = nullptr);

 signals:
  void stop_wanted();

 private:
  void follow();
  void show_jobs();

  Jobs& jobs_;
  ElidedLabel* text_;
  QProgressBar* bar_;
  QToolButton* cancel_;
  QTimer tick_;
};

}  // namespace strata::gui
