#pragma once

// The four charts of Results, one at a time, with what each shows on its sides.

#include <QComboBox>
#include <QLabel>
#include <QStackedWidget>
#include <QTabBar>
#include <QWidget>
#include <array>
#include <string>
#include <vector>

#include "gui/widgets/sweep/result_canvas.h"

namespace strata::gui {

class ResultCharts : public QWidget {
  Q_OBJECT

 public:
  enum Kind : std::uint8_t { lines, heat, pareto, parallel };

  ResultCharts(Results& results, Jobs& jobs, QWidget* parent = nullptr);

  void show_kind(Kind kind) { tabs_->setCurrentIndex(kind); }
  Kind kind() const { return static_cast<Kind>(tabs_->currentIndex()); }
  ResultCanvas& canvas(Kind kind) const { return *canvases_.at(kind); }
  /// By hand: what a chart shows from now on.
  void choose(Kind kind, const ChartChoice& choice);

 private:
  struct Side {
    QLabel* label = nullptr;
    QComboBox* column = nullptr;
    std::string ChartChoice::*choice = nullptr;
  };

  void add_canvas(const QString& title, const ResultCanvas::MakePicture& make);
  void add_side(const QString& label, std::string ChartChoice::*choice);
  /// The columns have come or gone.
  void take_over();
  void show_choice();
  void take_choice();
  ChartChoice usual(Kind kind) const;
  ChartChoice kept_or_usual(Kind kind) const;

  Results& results_;
  Jobs& jobs_;
  QTabBar* tabs_;
  QStackedWidget* stack_;
  std::vector<ResultCanvas*> canvases_;
  std::array<bool, 4> by_hand_{};  ///< by kind: somebody chose what it shows
  std::vector<Side> sides_;
  QStringList columns_;
};

}  // namespace strata::gui
