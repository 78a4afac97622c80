#pragma once

// Which strategy wins where: the case on the desk over two of its numbers, each cell a case of its
// own that can be opened. The map is drawn when it is asked for, in the background, and the cells
// are there as they are found.

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>

#include "gui/widgets/elided_label.h"
#include "gui/widgets/legend.h"
#include "gui/widgets/phase_map/map_canvas.h"
#include "gui/widgets/view.h"

namespace strata::gui {

class MapView : public View {
  Q_OBJECT

 public:
  explicit MapView(Workspace& workspace, QWidget* parent = nullptr);

  QString command() const override;
  std::vector<KeyHelp> keys() const override;
  QString csv() const override;

  const MapRun& run() const { return run_; }
  MapCanvas& canvas() { return *canvas_; }
  /// What the fields ask for.
  PhaseMapRequest request() const;

 public slots:
  void start_or_stop();

 protected:
  bool shows_scene() const override { return false; }  // its cells are cases of their own
  QWidget& picture() override { return *drawing_; }

 private:
  struct AxisFields {
    QComboBox* key = nullptr;
    QLineEdit* values = nullptr;
  };

  QWidget* make_bar();
  AxisFields make_axis(const QString& name);
  void follow();
  void offer_axes();
  void offer(const AxisFields& axis, const MapAxis& usual);
  void show_usual_values(const AxisFields& axis);
  void show_legend();
  void show_state();
  void show_desk();
  void say(const QString& text, bool stale = false);
  void on_failed(const QString& message);
  void show_cell();
  void open_cell();

  MapRun run_;
  AxisFields x_, y_;
  QCheckBox* search_;
  QPushButton* start_;
  QWidget* drawing_;
  MapCanvas* canvas_;
  Legend* legend_ = nullptr;
  ElidedLabel* cell_;
  std::vector<MapAxis> axes_;  ///< usual ones of the case
  MapCases cases_;             ///< of the map
  bool says_stale_ = false;    ///< the notice: that the map is of another case
};

}  // namespace strata::gui
