#pragma once

// The cut of the selected layers, to be changed: a row of degrees for each dim and the reduction,
// those that may not be greyed out with the reason, and what else one does with layers: lock them,
// solve the rest.

#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <span>
#include <vector>

#include "gui/models/network/config_choices.h"
#include "gui/models/workspace.h"

namespace strata::gui {

class ConfigPanel : public QScrollArea {
  Q_OBJECT

 public:
  explicit ConfigPanel(Workspace& workspace, QWidget* parent = nullptr);

  /// The button of a degree, or null where it is not offered.
  QPushButton* degree_button(CutAxis axis, std::int32_t degree) const;

 signals:
  void lock_wanted();
  void solve_wanted();
  void paint_wanted(bool on);
  void why_wanted();

 public slots:
  void set_painting(bool painting);
  void set_solving(bool solving);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  struct DegreeButton {
    CutAxis axis;
    std::int32_t degree;
    QPushButton* button;
  };

  void show_selection();
  void show_degrees(const std::vector<LayerId>& layers);
  void show_numbers(const std::vector<LayerId>& layers);
  void clear_degrees();
  int add_degrees(CutAxis axis, std::span<const DegreeChoice> choices, int row);
  void choose(CutAxis axis, std::int32_t degree);
  void choose_only(CutAxis axis);
  std::vector<LayerId> cuttable() const;
  /// As the document has it, where its scene is not there yet.
  const Config& cut(LayerId layer) const;
  /// True of sums where the layer has none.
  bool has_degree(LayerId layer, CutAxis axis, std::int32_t degree) const;
  QPushButton* action(const QString& text, const QString& tip, void (ConfigPanel::*signal)());

  Workspace& workspace_;
  QLabel *title_, *subtitle_, *numbers_, *hint_;
  QWidget* degrees_;
  QGridLayout* grid_;
  QPushButton *lock_, *solve_, *paint_, *why_;
  std::vector<DegreeButton> buttons_;
  std::vector<LayerId> shown_;
};

}  // namespace strata::gui
