#include "gui/widgets/network/network_view.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QPainter>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "gui/models/network/config_choices.h"
#include "gui/models/network/solve_rest.h"
#include "gui/models/text.h"

namespace strata::gui {
namespace {

class NetworkSheet : public QWidget {
 public:
  NetworkSheet(const NetworkCanvas& shown, QWidget* parent) : QWidget(parent), shown_(shown) {
    hide();
  }

 protected:
  void paintEvent(QPaintEvent* /*event*/) override {
    QPainter painter(this);
    shown_.paint_whole(painter);
  }

 private:
  const NetworkCanvas& shown_;
};

QPixmap colour_square(const QColor& colour) {
  QPixmap square(12, 12);
  square.fill(colour);
  return square;
}

}  // namespace

NetworkView::NetworkView(Workspace& workspace, QWidget* parent)
    : View(QStringLiteral("network"), tr("Network"), workspace, parent),
      map_(workspace),
      canvas_(new NetworkCanvas(map_, this)),
      table_(new FittedTable(
          &layers_, {LayerTable::name_column, LayerTable::op_column, LayerTable::config_column},
          this)),
      pages_(new QStackedWidget(this)),
      sheet_(new NetworkSheet(*canvas_, this)),
      panel_(new ConfigPanel(workspace, this)) {
  make_table();
  pages_->addWidget(canvas_);
  pages_->addWidget(table_);
  auto* body = new QWidget(this);
  auto* column = make_column(body);
  column->addWidget(make_toolbar());
  auto* row = new QHBoxLayout;
  row->setSpacing(0);
  row->addWidget(pages_, 1);
  row->addWidget(panel_);
  column->addLayout(row, 1);
  set_content(body);
  body->setFocusProxy(canvas_);
  connect(canvas_, &NetworkCanvas::picked, this, &NetworkView::pick);
  connect(canvas_, &NetworkCanvas::painted, this, &NetworkView::paint);
  connect(canvas_, &NetworkCanvas::opened, &map_, &NetworkMap::open);
  connect(canvas_, &NetworkCanvas::shut, &map_, &NetworkMap::shut);
  connect(canvas_, &NetworkCanvas::menu_wanted, this, &NetworkView::fill_menu);
  connect(&map_, &NetworkMap::rearranged, this, &NetworkView::forget_nodes);
  connect(&map_, &NetworkMap::failed, this, &View::notify);
  connect(panel_, &ConfigPanel::lock_wanted, this, &NetworkView::turn_locks);
  connect(panel_, &ConfigPanel::solve_wanted, this, &NetworkView::solve);
  connect(panel_, &ConfigPanel::paint_wanted, this, &NetworkView::set_painting);
  connect(panel_, &ConfigPanel::why_wanted, this, &NetworkView::why_wanted);
  connect(&workspace, &Workspace::scene_changed, this, &NetworkView::follow_scene);
  connect(&workspace, &Workspace::document_changed, this, [this] {
    notify({});
    panel_->show();
  });
  connect(&selection(), &Selection::layers_changed, this, &NetworkView::follow_layers);
  connect(&workspace.jobs(), &Jobs::changed, this,
          [this] { panel_->set_solving(this->workspace().jobs().busy(kSearchLane)); });
  canvas_->installEventFilter(this);
  table_->installEventFilter(this);
  panel_->setVisible(!workspace.document().empty());
  follow_scene();
}

QToolButton* NetworkView::tool(const QString& text, const QString& tip) {
  auto* button = new QToolButton(this);
  button->setText(text);
  button->setToolTip(tip);
  button->setAutoRaise(true);
  button->setFocusPolicy(Qt::TabFocus);
  return button;
}

QWidget* NetworkView::make_toolbar() {
  auto* bar = new QWidget(this);
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(8, 4, 8, 4);
  row->setSpacing(4);
  shown_ = new QButtonGroup(this);
  for (const auto& [text, tip] : {std::pair(tr("Graph"), tr("The layers as a graph  (T)")),
                                  std::pair(tr("Table"), tr("The layers as a table  (T)"))}) {
    QToolButton* button = tool(text, tip);
    button->setCheckable(true);
    row->addWidget(button);
    shown_->addButton(button, static_cast<int>(shown_->buttons().size()));
  }
  shown_->button(0)->setChecked(true);
  connect(shown_, &QButtonGroup::idClicked, this, [this](int id) { show_table(id == 1); });
  row->addSpacing(12);
  colours_ = tool(tr("Colour: cut"), tr("Colour by cut, cost, op, stage  (C)"));
  connect(colours_, &QToolButton::clicked, this, &NetworkView::next_colours);
  row->addWidget(colours_);
  QToolButton* fold = tool(tr("Blocks"), tr("Open or shut blocks"));
  fold->setPopupMode(QToolButton::InstantPopup);
  auto* menu = new QMenu(fold);
  connect(menu, &QMenu::aboutToShow, this, [this, menu] {
    menu->clear();
    add_block_actions(*menu);
  });
  fold->setMenu(menu);
  row->addWidget(fold);
  QToolButton* fit = tool(tr("Fit"), tr("All of it in the window  (F)"));
  connect(fit, &QToolButton::clicked, canvas_, &NetworkCanvas::fit);
  row->addWidget(fit);
  row->addStretch(1);
  search_ = new QLineEdit(bar);
  search_->setPlaceholderText(tr("Search layers, ops, cuts  (/)"));
  search_->setClearButtonEnabled(true);
  search_->setMinimumWidth(120);
  search_->setMaximumWidth(260);
  search_->installEventFilter(this);
  connect(search_, &QLineEdit::textChanged, this, &NetworkView::search);
  connect(search_, &QLineEdit::returnPressed, this, &NetworkView::next_found);
  row->addWidget(search_, 1);
  return bar;
}

void NetworkView::make_table() {
  table_->sortByColumn(-1, Qt::AscendingOrder);  // in the network's order
  table_->setFrameShape(QFrame::NoFrame);
  table_->setAccessibleName(tr("The network's layers"));
  connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
          &NetworkView::pick_rows);
}

void NetworkView::follow_scene() {
  canvas_->close_menu();
  if (!workspace().scene()) return;
  layers_.set_scene(workspace().scene(), map_.newest_parts());
  filter_rows(search_->text());
  follow_layers();
}

void NetworkView::follow_layers() {
  if (!layers_.scene()) return;
  following_ = true;
  QItemSelection rows;
  for (int row = 0; row < layers_.rowCount(); ++row) {
    const QModelIndex index = layers_.index(row, 0);
    const std::vector<LayerId>& held = layers_.rows()[std::size_t(row)].layers;
    const bool any =
        std::ranges::any_of(held, [&](LayerId layer) { return selection().has_layer(layer); });
    if (any) rows.select(index, index);
  }
  QItemSelectionModel& picked = *table_->selectionModel();
  picked.select(rows, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  // Where the keys go on from: else it is the first row once the table gets the focus.
  if (!rows.isEmpty() && !picked.isSelected(picked.currentIndex())) {
    picked.setCurrentIndex(rows.first().topLeft(), QItemSelectionModel::NoUpdate);
    table_->scrollTo(picked.currentIndex());
  }
  following_ = false;
}

void NetworkView::pick_rows() {
  if (following_) return;
  std::vector<LayerId> layers;
  for (const std::size_t row : table_->picked_rows()) {
    const std::vector<LayerId>& held = layers_.rows()[row].layers;
    layers.insert(layers.end(), held.begin(), held.end());
  }
  selection().select_layers(std::move(layers));
}

// Those stay that hold what is searched, in any column.
void NetworkView::filter_rows(const QString& text) {
  for (int row = 0; row < layers_.rowCount(); ++row) {
    bool holds = text.trimmed().isEmpty();
    for (int column = 0; column < layers_.columnCount() && !holds; ++column) {
      holds = layers_.index(row, column)
                  .data()
                  .toString()
                  .contains(text.trimmed(), Qt::CaseInsensitive);
    }
    table_->setRowHidden(row, !holds);
  }
}

QWidget& NetworkView::picture() {
  if (pages_->currentWidget() != canvas_) return *pages_->currentWidget();
  sheet_->resize(canvas_->whole_size());
  return *sheet_;
}

void NetworkView::show_table(bool table) {
  shown_->button(table ? 1 : 0)->setChecked(true);
  pages_->setCurrentIndex(table ? 1 : 0);
  content()->setFocusProxy(table ? static_cast<QWidget*>(table_) : canvas_);
  pages_->currentWidget()->setFocus();
}

QString NetworkView::command() const {
  return predict_command();
}

QString NetworkView::csv() const {
  LayerTable all;
  if (workspace().scene()) {
    all.set_scene(workspace().scene(), std::make_shared<Parts>(workspace().scene()->input.graph));
  }
  return all.csv();
}

// What one does in a NetworkView: pick, paint, lock, solve, search.

void NetworkView::pick(const std::vector<std::size_t>& nodes, PickMode mode) {
  if (!map_.current()) return;
  std::vector<std::size_t> all = nodes;
  if (mode == PickMode::range && anchor_ && !nodes.empty() &&
      *anchor_ < map_.picture().nodes.size()) {
    all.clear();
    const auto [first, last] = std::minmax(*anchor_, nodes.front());
    for (std::size_t node = first; node <= last; ++node) all.push_back(node);
  } else if (!nodes.empty()) {
    anchor_ = nodes.front();
  }
  std::vector<LayerId> layers = map_.layers_of(all);
  if (mode == PickMode::toggle) {
    const std::vector<LayerId> picked = std::exchange(layers, selection().layers());
    const bool off = std::all_of(picked.begin(), picked.end(),
                                 [&](LayerId layer) { return selection().has_layer(layer); });
    for (const LayerId layer : picked) {
      if (off) std::erase(layers, layer);
      if (!off) layers.push_back(layer);
    }
  }
  selection().select_layers(std::move(layers));
}

// Those that cannot be cut so are left alone, and the reason is told.
void NetworkView::paint(const std::vector<std::size_t>& nodes) {
  if (selection().layers().empty() || !workspace().scene() || !map_.current()) return;
  const Scene& scene = *workspace().scene();
  const Config brush = scene.prediction.strategy[selection().layers().back()];
  std::vector<LayerId> layers;
  QString refused;
  for (const LayerId layer : map_.layers_of(nodes)) {
    if (is_input(scene.input.graph[layer].op)) continue;
    const std::string reason = why_not(scene.input, std::span(&layer, 1), brush.degrees);
    if (reason.empty()) layers.push_back(layer);
    if (!reason.empty()) refused = QString::fromStdString(reason);
  }
  workspace().set_config(layers, brush);
  const QString cut = human_config(scene.input.graph, selection().layers().back(), brush);
  notify(refused.isEmpty() ? QString() : tr("Not cut as %1: %2").arg(cut, refused));
}

void NetworkView::set_painting(bool on) {
  const bool can = on && !selection().layers().empty();
  canvas_->set_painting(can);
  panel_->set_painting(can);
}

void NetworkView::turn_locks() {
  if (!workspace().scene() || selection().layers().empty()) return;
  workspace().edit(tr("locks"),
                   with_locks_turned(workspace().document(), workspace().scene()->input.graph,
                                     selection().layers()));
}

void NetworkView::solve() {
  if (workspace().jobs().busy(kSearchLane)) return workspace().jobs().stop(kSearchLane);
  notify({});
  solve_rest(
      workspace(), this, {}, [this](const SolvedRest& found) { notify(said_of(found)); },
      [this](const QString& message) { notify(message); });
}

void NetworkView::search(const QString& text) {
  found_ = map_.find(text);
  next_ = 0;
  canvas_->set_found({found_.begin(), found_.end()});
  filter_rows(text);
}

// Nodes have other numbers now.
void NetworkView::forget_nodes() {
  anchor_.reset();
  next_ = 0;
  found_ = map_.find(search_->text());
  canvas_->set_found({found_.begin(), found_.end()});
}

void NetworkView::next_found() {
  if (found_.empty()) return;
  const std::size_t node = found_[next_++ % found_.size()];
  if (node >= map_.picture().nodes.size()) return;
  canvas_->set_current(node);
  canvas_->show_node(node);
  pick({node}, PickMode::replace);
}

void NetworkView::next_colours() {
  const auto after = [](NetworkColours colours) {
    return static_cast<NetworkColours>((static_cast<int>(colours) + 1) % kNetworkColours);
  };
  const bool staged = workspace().scene() && workspace().scene()->stages.several();
  NetworkColours next = after(canvas_->colours());
  if (next == NetworkColours::stage && !staged) next = after(next);
  canvas_->set_colours(next);
  colours_->setText(tr("Colour: %1").arg(legend_title(next)));
}

bool NetworkView::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::KeyPress) return View::eventFilter(watched, event);
  auto* key = static_cast<QKeyEvent*>(event);
  if (watched == search_) {
    if (key->key() != Qt::Key_Escape) return false;
    search_->clear();
    pages_->currentWidget()->setFocus();
    return true;
  }
  return act(key->key(), key->modifiers());
}

void NetworkView::keyPressEvent(QKeyEvent* event) {
  if (!act(event->key(), event->modifiers())) View::keyPressEvent(event);
}

bool NetworkView::act(int key, Qt::KeyboardModifiers modifiers) {
  if (modifiers & (Qt::ControlModifier | Qt::AltModifier)) {
    if (key != Qt::Key_A || !map_.scene()) return false;
    std::vector<std::size_t> all(map_.picture().nodes.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    return pick(all, PickMode::replace), true;
  }
  if (key == Qt::Key_S && (modifiers & Qt::ShiftModifier)) return solve(), true;
  switch (key) {
    case Qt::Key_C:
      return next_colours(), true;
    case Qt::Key_T:
      return show_table(pages_->currentIndex() == 0), true;
    case Qt::Key_L:
      return turn_locks(), true;
    case Qt::Key_P:
      return set_painting(!canvas_->painting()), true;
    case Qt::Key_Y:
      emit why_wanted();
      return true;
    case Qt::Key_Slash:
      search_->setFocus();
      search_->selectAll();
      return true;
    case Qt::Key_1:
      return map_.set_open(map_.parts().blocks_shut()), true;
    case Qt::Key_2:
      return map_.set_open(map_.parts().blocks_open()), true;
    case Qt::Key_3:
      return map_.set_open(map_.parts().all_open()), true;
    case Qt::Key_R:
      map_.set_folds(!map_.folds());
      return follow_scene(), true;
    case Qt::Key_Escape:
      if (canvas_->painting()) return set_painting(false), true;
      return selection().select_layers({}), true;
    default:
      return false;
  }
}

std::vector<KeyHelp> NetworkView::keys() const {
  return {{tr("arrows"), tr("to the next layer; with Shift select a range")},
          {tr("E, Enter"), tr("open a block, or a layer with what follows it")},
          {tr("Backspace"), tr("shut it again")},
          {QStringLiteral("1, 2, 3"), tr("blocks shut, blocks open, every layer")},
          {QStringLiteral("R"), tr("fold blocks that repeat into one, or show each of them")},
          {tr("Shift+click, Ctrl+click"), tr("select a range, one more")},
          {tr("Shift+drag, Ctrl+Shift+drag"), tr("select a rectangle, turn what it touches")},
          {QStringLiteral("Ctrl+A, Esc"), tr("select all, none")},
          {QStringLiteral("P"), tr("paint: layers that are clicked get the selected one's cut")},
          {QStringLiteral("L"), tr("lock or unlock the selected layers")},
          {QStringLiteral("Shift+S"), tr("solve the rest")},
          {QStringLiteral("Y"), tr("why is it cut so?")},
          {QStringLiteral("C"), tr("colour by cut, cost, op, stage")},
          {QStringLiteral("T"), tr("graph or table")},
          {QStringLiteral("/"), tr("search; Enter goes from one to the next")},
          {tr("right button, Menu"), tr("what can be done with a layer, or with the sheet")},
          {tr("drag, Shift+wheel"), tr("move the sheet, sideways")},
          {tr("wheel, +, -"), tr("zoom about the mouse, about the middle")},
          {QStringLiteral("F"), tr("fit the network into the window")}};
}

// What the right button offers in the network: what its keys do, of the layer where the mouse is.

void NetworkView::add_block_actions(QMenu& menu) {
  menu.addAction(tr("Shut all blocks  (1)"), this, [this] { act(Qt::Key_1, {}); });
  menu.addAction(tr("Open all blocks  (2)"), this, [this] { act(Qt::Key_2, {}); });
  menu.addAction(tr("Show every layer  (3)"), this, [this] { act(Qt::Key_3, {}); });
  QAction* fold =
      menu.addAction(tr("Fold repeated blocks  (R)"), this, [this] { act(Qt::Key_R, {}); });
  fold->setCheckable(true);
  fold->setChecked(map_.can_fold() && map_.folds());
  fold->setEnabled(map_.can_fold());
}

void NetworkView::select_alike(const std::function<bool(const NetworkNode&)>& alike) {
  std::vector<std::size_t> nodes;
  for (std::size_t i = 0; i < map_.picture().nodes.size(); ++i) {
    if (alike(map_.picture().nodes[i])) nodes.push_back(i);
  }
  pick(nodes, PickMode::replace);
}

// The network's cuts, each with the reason where the selected layers cannot have it.
void NetworkView::fill_cut_menu(QMenu& menu) {
  const Scene& scene = *map_.scene();
  std::vector<LayerId> layers = selection().layers();
  std::erase_if(layers, [&](LayerId layer) { return is_input(scene.input.graph[layer].op); });
  menu.setToolTipsVisible(true);
  menu.setEnabled(!layers.empty());
  for (const auto& [cut, text] : map_.picture().cuts) {
    const std::string reason = why_not(scene.input, layers, cut.degrees);
    QAction* action =
        menu.addAction(colour_square(cut_colour(cut, theme())), QString::fromStdString(text), this,
                       [this, layers, cut = cut] { workspace().set_config(layers, cut); });
    action->setEnabled(reason.empty());
    action->setToolTip(QString::fromStdString(reason));
  }
}

void NetworkView::fill_node_menu(QMenu& menu, std::size_t number) {
  const NetworkNode node = map_.picture().nodes[number];
  const Part& part = map_.parts()[node.part];
  if (!part.children.empty()) {
    menu.addAction(tr("Open %1  (E)").arg(QString::fromStdString(part.name)), this,
                   [this, node] { map_.open(node.part); });
  }
  if (part.parent) {
    const std::string& outer = map_.parts()[*part.parent].name;
    menu.addAction(tr("Shut %1  (Backspace)").arg(QString::fromStdString(outer)), this,
                   [this, node] { map_.shut(node.part); });
  }
  menu.addSeparator();
  const bool cuttable = !node.network_input;
  const auto add = [&](const QString& text, int key, Qt::KeyboardModifiers modifiers = {}) {
    menu.addAction(text, this, [this, key, modifiers] { act(key, modifiers); })
        ->setEnabled(cuttable);
  };
  fill_cut_menu(*menu.addMenu(tr("Cut as")));
  add(node.locked == node.layers ? tr("Unlock  (L)") : tr("Lock  (L)"), Qt::Key_L);
  add(tr("Paint with this cut  (P)"), Qt::Key_P);
  add(tr("Why this cut?  (Y)"), Qt::Key_Y);
  add(tr("Solve the rest  (Shift+S)"), Qt::Key_S, Qt::ShiftModifier);
  menu.addSeparator();
  menu.addAction(tr("Select all of %1").arg(QString::fromStdString(node.op)), this, [this, node] {
    select_alike([&](const NetworkNode& other) { return other.op == node.op; });
  });
  menu.addAction(tr("Select all that are cut so"), this,
                 [this, node] {
                   select_alike([&](const NetworkNode& other) { return other.cuts == node.cuts; });
                 })
      ->setEnabled(cuttable);
  const QString name = QString::fromStdString(part.name);
  menu.addAction(tr("Copy the name %1").arg(name), this,
                 [name] { QGuiApplication::clipboard()->setText(name); });
}

void NetworkView::fill_menu(QMenu& menu, const QPoint& at) {
  if (!map_.scene() || !map_.current()) return;
  if (const auto node = canvas_->node_at(at)) return fill_node_menu(menu, *node);
  add_block_actions(menu);
  menu.addSeparator();
  menu.addAction(tr("Select all  (Ctrl+A)"), this, [this] { act(Qt::Key_A, Qt::ControlModifier); });
  menu.addAction(tr("Other colours  (C)"), this, &NetworkView::next_colours);
  menu.addAction(tr("Solve the rest  (Shift+S)"), this, &NetworkView::solve);
  menu.addAction(tr("Fit the network into the window  (F)"), canvas_, &NetworkCanvas::fit);
}

}  // namespace strata::gui
