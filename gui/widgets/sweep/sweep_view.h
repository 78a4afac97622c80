#pragma once

// What a sweep has found: its rows as a table, as lines, as a heat map, as a front of what nothing
// beats and as parallel axes, all under one filter; and the sweep itself, started and watched. A
// double click on a row opens its case. The file is read in the background, rows as they come.

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QStackedWidget>
#include <QTableView>
#include <QToolButton>
#include <functional>

#include "gui/models/sweep/result_file.h"
#include "gui/models/sweep/result_table.h"
#include "gui/models/sweep/results.h"
#include "gui/models/sweep/sweep_run.h"
#include "gui/widgets/sweep/report_page.h"
#include "gui/widgets/sweep/result_charts.h"
#include "gui/widgets/sweep/sweep_bar.h"
#include "gui/widgets/view.h"

namespace strata::gui {

class SweepView : public View {
  Q_OBJECT

 public:
  explicit SweepView(Workspace& workspace, QWidget* parent = nullptr);

  QString command() const override;
  std::vector<KeyHelp> keys() const override;
  QString csv() const override { return table_.csv(); }
  std::function<QString()> csv_later() const override {
    return [all = table_.shown(), rows = table_.rows()] { return print_csv(*all, rows); };
  }
  bool has_csv() const override { return table_.columnCount() > 0; }
  /// A database, or a scenario, whose database stands beside it.
  bool open(const QString& file) override;

  Results& results() { return results_; }
  SweepRun& sweep() { return sweep_; }
  ResultCharts& charts() { return *charts_; }
  QTableView& table() { return *rows_; }
  ReportPage& report() { return *report_; }
  QToolButton& report_button() { return *report_button_; }

 public slots:
  /// The report in the place of charts and rows, or these again.
  void show_report(bool shown);

 protected:
  bool shows_scene() const override { return false; }
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QWidget* make_empty_page();
  QWidget* make_page();
  QWidget* make_tools();
  void make_table();
  void follow();

  void open_readable(const QString& file, std::function<void()> check, std::function<void()> open);
  void open_database(const std::string& file, const std::string& scenario = {});
  void choose_file();
  void show_all();
  void list_scenarios();
  void take_rows(const ResultSetPtr& rows);
  void show_columns();
  void say_why_empty();
  void say_opened(const std::string& file);
  void complain(const std::string& file, const QString& message);
  void settle_layout();
  void show_count();
  void show_current();
  void draw_report();
  void open_row(std::uint32_t row);
  void put_on_desk(const Document& document);

  Results results_;
  ResultTable table_;
  ResultFile file_;
  SweepRun sweep_;

  QStackedWidget* pages_;
  QWidget* tools_ = nullptr;
  QComboBox* scenario_ = nullptr;
  QLineEdit* filter_ = nullptr;
  QLabel* name_ = nullptr;
  QLabel* count_ = nullptr;
  QLabel* common_ = nullptr;
  QToolButton* clear_ = nullptr;
  ResultCharts* charts_ = nullptr;
  QTableView* rows_ = nullptr;
  QStackedWidget* body_ = nullptr;  ///< charts and rows, or the report
  ReportPage* report_ = nullptr;
  QToolButton* report_button_ = nullptr;
  bool report_offered_ = false;  ///< of the scenario that is open
  QString opening_;              ///< that nobody has read yet
  QStringList columns_;          ///< that the table's widths were made for
};

}  // namespace strata::gui
