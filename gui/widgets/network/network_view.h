#pragma once

// The network: its layers as a graph and as a table, with the cut of each, and beside it a panel to
// change them.

#include <QButtonGroup>
#include <QLineEdit>
#include <QMenu>
#include <QStackedWidget>
#include <QToolButton>
#include <functional>

#include "gui/models/network/layer_table.h"
#include "gui/models/network/network_map.h"
#include "gui/widgets/fitted_table.h"
#include "gui/widgets/network/config_panel.h"
#include "gui/widgets/network/network_canvas.h"
#include "gui/widgets/view.h"

namespace strata::gui {

class NetworkView : public View {
  Q_OBJECT

 public:
  explicit NetworkView(Workspace& workspace, QWidget* parent = nullptr);

  QString command() const override;
  std::vector<KeyHelp> keys() const override;
  QString csv() const override;

  NetworkMap& map() { return map_; }
  NetworkCanvas& canvas() { return *canvas_; }
  ConfigPanel& panel() { return *panel_; }
  FittedTable& table() { return *table_; }
  void show_table(bool table);
  void search(const QString& text);

 signals:
  /// The Why view answers.
  void why_wanted();

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;
  QWidget& picture() override;

 private:
  QWidget* make_toolbar();
  QToolButton* tool(const QString& text, const QString& tip);
  void make_table();
  void follow_scene();
  void follow_layers();
  void pick(const std::vector<std::size_t>& nodes, PickMode mode);
  void pick_rows();
  void filter_rows(const QString& text);
  void paint(const std::vector<std::size_t>& nodes);
  void set_painting(bool on);
  void turn_locks();
  void solve();
  void next_found();
  void forget_nodes();
  void next_colours();
  void select_alike(const std::function<bool(const NetworkNode&)>& alike);
  void fill_menu(QMenu& menu, const QPoint& at);
  void fill_node_menu(QMenu& menu, std::size_t node);
  void fill_cut_menu(QMenu& menu);
  void add_block_actions(QMenu& menu);
  bool act(int key, Qt::KeyboardModifiers modifiers);

  NetworkMap map_;
  LayerTable layers_;
  NetworkCanvas* canvas_;
  FittedTable* table_;
  QStackedWidget* pages_;
  QWidget* sheet_;  ///< never seen: the graph as it is drawn into files
  ConfigPanel* panel_;
  QLineEdit* search_;
  QButtonGroup* shown_;
  QToolButton* colours_;
  std::vector<std::size_t> found_;
  std::size_t next_ = 0;
  std::optional<std::size_t> anchor_;
  bool following_ = false;  ///< rows are being selected for the selection, not by the user
};

}  // namespace strata::gui
