#pragma once

// The scene beside its baseline: which layers are cut otherwise and what each costs and gains, a
// waterfall that leads from the one step time to the other, and both timelines; where there is no
// room for all of them, one at a time. Cuts of single layers are taken over from either side.
// Networks may differ: layers are matched by name.

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QTabBar>
#include <memory>

#include "gui/models/compare/differences.h"
#include "gui/models/compare/waterfall.h"
#include "gui/widgets/compare/waterfall_plot.h"
#include "gui/widgets/fitted_table.h"
#include "gui/widgets/view.h"

namespace strata::gui {

class LinkedTimelines;

class CompareView : public View {
  Q_OBJECT

 public:
  explicit CompareView(Workspace& workspace, QWidget* parent = nullptr);

  QString command() const override;
  std::vector<KeyHelp> keys() const override;
  QString csv() const override;
  /// A strategy: it becomes the baseline.
  bool open(const QString& file) override;

  DifferenceTable& differences() { return *differences_; }
  FittedTable& table() { return *table_; }
  WaterfallPlot& waterfall_plot() { return *plot_; }
  QString summary() const { return summary_->text(); }
  QComboBox& baseline_choice() { return *choice_; }
  /// What is shown in a small view.
  QTabBar& pages() { return *pages_; }

 public slots:
  /// The selected rows' cuts, from the baseline; and to it.
  void take_over();
  void give_over();
  void show_by(strata::gui::WaterfallBy by);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void show_page();
  QWidget* make_bar();
  QWidget* make_headline();
  QWidget* make_table();
  void follow();
  void bind_keys();
  void choose_baseline(int index);
  void set_strategy_baseline(const std::string& source);
  void say_opened();
  void refresh();
  void show_texts();
  QString headline() const;
  void show_selected();
  void pick_rows();
  bool up_to_date();
  std::vector<std::string> picked_layers();

  QComboBox* choice_;
  QTabBar* pages_;
  QComboBox* by_;
  QLabel* summary_;
  QCheckBox* all_;
  QPushButton* take_;
  QPushButton* give_;
  DifferenceTable* differences_;
  FittedTable* table_;
  WaterfallPlot* plot_;
  QWidget* upper_;  ///< the table and the plot
  LinkedTimelines* timelines_;
  QString opening_;       ///< a strategy that nobody has read yet
  bool picking_ = false;  ///< the selection changes from here
};

}  // namespace strata::gui
