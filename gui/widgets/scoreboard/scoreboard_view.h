#pragma once

// Every strategy that was tried on the case at hand, the fastest first: a click takes one, which is
// one step of undo. What was tried on other cases is there again when they are.

#include <QLabel>
#include <QPushButton>

#include "gui/models/scoreboard.h"
#include "gui/widgets/fitted_table.h"
#include "gui/widgets/view.h"

namespace strata::gui {

class ScoreboardView : public View {
  Q_OBJECT

 public:
  explicit ScoreboardView(Workspace& workspace, QWidget* parent = nullptr);

  QString command() const override;
  std::vector<KeyHelp> keys() const override;
  QString csv() const override;

  const ScoreTable& scores() const { return *scores_; }
  FittedTable& table() { return *table_; }

 private:
  void make_table();
  QWidget* make_foot();
  void follow();
  void bind_keys();
  void show_scores();
  void show_bound(Seconds lower_bound);
  const CaseRequest* shown_case() const;
  void take();
  void remove();

  ScoreTable* scores_;
  FittedTable* table_;
  QLabel* bound_;
  QPushButton *take_, *remove_;
};

}  // namespace strata::gui
