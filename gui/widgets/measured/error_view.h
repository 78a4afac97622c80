#pragma once

// A prediction and what really happened: the strategy runs on this machine's devices, and each task
// stands beside its prediction, coloured by how wrong that was.

#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QSpinBox>
#include <QTableView>

#include "gui/models/measured/error_recording.h"
#include "gui/models/measured/error_table.h"
#include "gui/models/measured/real_run.h"
#include "gui/widgets/timeline/timeline_canvas.h"
#include "gui/widgets/view.h"

namespace strata::gui {

class ErrorView : public View {
  Q_OBJECT

 public:
  explicit ErrorView(Workspace& workspace, QWidget* parent = nullptr);

  QString command() const override;
  std::vector<KeyHelp> keys() const override;
  QString csv() const override;

  TimelineCanvas& canvas() const { return *canvas_; }
  QTableView& table() const { return *table_; }
  QLineEdit& devices_field() const { return *devices_; }
  QSpinBox& tolerance_field() const { return *tolerance_; }
  QSpinBox& batch_field() const { return *batch_; }
  QSpinBox& rounds_field() const { return *rounds_; }
  QPushButton& run_button() const { return *run_; }
  const QLabel& summary() const { return *summary_; }

 public slots:
  /// Runs, or calls off what runs.
  void run_or_stop();
  /// The next row of the table, the one with the largest error first.
  void jump_to_worst();

 private:
  QWidget* make_bar();
  QWidget* make_results();
  void follow();
  RealRun request() const;
  void start();
  void show_measured();
  void show_summary();
  void show_state();
  void show_tolerance();
  void on_row(int row);
  void on_picked();
  int row_of(const Task& task) const;
  void select_row(int row);

  QLineEdit* devices_;
  QSpinBox* batch_;
  QSpinBox* rounds_;
  QPushButton* run_;
  QSpinBox* tolerance_;
  QLabel* summary_;
  TimelineCanvas* canvas_;
  ErrorTable* model_;
  QSortFilterProxyModel* sorted_;
  QTableView* table_;
  MeasuredPtr shown_;
};

}  // namespace strata::gui
