#pragma once

// The device graph: which links carry how much over the picked range of time (of one steady step
// where none is picked), what crosses the picked link layer by layer, another bandwidth for a link
// where it stands, and another cluster from a file.

#include <QComboBox>
#include <QLabel>
#include <memory>
#include <optional>
#include <vector>

#include "gui/models/cluster/link_history.h"
#include "gui/models/cluster/link_transfers.h"
#include "gui/widgets/cluster/bandwidth_field.h"
#include "gui/widgets/cluster/cluster_canvas.h"
#include "gui/widgets/cluster/range_bar.h"
#include "gui/widgets/fitted_table.h"
#include "gui/widgets/view.h"

namespace strata::gui {

class ClusterView : public View {
  Q_OBJECT

 public:
  explicit ClusterView(Workspace& workspace, QWidget* parent = nullptr);

  QString command() const override;
  std::vector<KeyHelp> keys() const override;
  QString csv() const override { return csv_later()(); }
  std::function<QString()> csv_later() const override;
  bool has_csv() const override;
  /// A cluster: it takes the place of the one on the desk.

  ClusterCanvas& canvas() { return *canvas_; }
  RangeBar& range_bar() { return *bar_; }
  LinkTransferTable& transfers() { return *transfers_; }
  QLineEdit& bandwidth_field() { return *field_; }

  /// Opens the field in which a link's bandwidth is edited.
  void edit_bandwidth(LinkId link, const QPoint& at);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  /// What is made of a scene before it is shown.
  struct Picture {
    ScenePtr scene;
    ClusterMap map;
    std::shared_ptr<const LinkHistory> history;
    std::vector<double> busiest;  ///< of the strip
  };

  static Picture picture_of(const ScenePtr& scene, double aspect);
  QWidget* make_picture();
  QWidget* make_details();
  QWidget* make_table(QWidget* parent);
  void follow();
  void on_scene();
  void draw_scene();
  void on_picture(const Picture& picture);
  void show_use();
  void show_selection();
  void show_transfers();
  void show_details();
  void take_bandwidth();
  void pick_row();
  void choose_cluster();
  void fill_menu(QMenu& menu, const QPoint& at);
  void fill_link_menu(QMenu& menu, LinkId link, const QPoint& at);
  std::string bandwidth_key(LinkId link) const;
  std::optional<LinkId> picked_link() const;

  ClusterCanvas* canvas_;
  RangeBar* bar_;
  QComboBox* colour_;
  QLabel* title_;
  QLabel* facts_;
  FittedTable* table_;
  LinkTransferTable* transfers_;
  BandwidthField* field_;
  double drawn_aspect_ = 1.6;
  std::optional<LinkId> edited_;  ///< whose bandwidth the field holds
  ScenePtr shown_;                ///< that the map and the history are of
  std::shared_ptr<const LinkHistory> history_;
  LinkUse use_;  ///< in the range
};

}  // namespace strata::gui
