#pragma once

// Why does a step take its time? The story of the strategy, while no layer is selected. And why is
// a layer cut so? Every cut that it could have, the step it would make, what it would cost among
// the neighbours that it has, what insisting on it would cost in all; and a key to insist, and see.

#include <QLabel>
#include <QPushButton>

#include "gui/models/why/explained.h"
#include "gui/widgets/fitted_table.h"
#include "gui/widgets/view.h"
#include "gui/widgets/why/parts_bars.h"

namespace strata::gui {

struct SolvedRest;

class WhyView : public View {
  Q_OBJECT

 public:
  explicit WhyView(Workspace& workspace, QWidget* parent = nullptr);

  QString command() const override;
  std::vector<KeyHelp> keys() const override;
  QString csv() const override;

  const ChoiceTable& choices() const { return choices_; }
  /// The story that is told; empty while there is none.
  QString story() const { return told_ ? story_->text() : QString(); }
  FittedTable& table() { return *table_; }
  /// Where the step goes, beside the story.
  const PartsBars& parts() const { return *parts_; }
  QPushButton& force_button() { return *force_; }
  /// The row of the table with this cut, or -1.
  int row_of(const Degrees& degrees) const;

 protected:
  void showEvent(QShowEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void make_table();
  QWidget* make_foot();
  void ask();
  void ask_layer(LayerId layer);
  void ask_story();
  void ask_parts();
  void show_answer(const ExplainedPtr& answer);
  void show_story(const ToldPtr& told);
  void show_title();
  void failed(const QString& message);
  void show_row();
  const ChoiceCosts* current() const;
  void force();
  void take();
  void tell_regret(const SolvedRest& found, const QString& cut, Seconds regret, Seconds optimum);
  void go_to_binding();
  std::optional<LayerId> asked_layer() const;

  ChoiceTable choices_;
  ToldPtr told_;
  QLabel *title_, *story_;
  PartsBars* parts_;
  QWidget* of_layer_;  // what is shown of a layer
  FittedTable* table_;
  QPushButton *force_, *take_, *neighbour_;
  bool stale_ = true;      ///< something changed while nobody saw this
  bool in_error_ = false;  ///< the notice is an error of ask()
};

}  // namespace strata::gui
