#include "gui/widgets/network_view.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/models/config_choices.h"
#include "gui/models/solve_rest.h"
#include "gui/models/text.h"

namespace strata::gui {

NetworkView::NetworkView(Workspace& workspace, QWidget* parent)
    : View(QStringLiteral("network"), tr("Network"), workspace, parent),
      map_(workspace),
      canvas_(new NetworkCanvas(map_, this)),
      table_view_(new QTableView(this)),
      pages_(new QStackedWidget(this)),
      panel_(new ConfigPanel(workspace, this)) {
  make_table();
  pages_->addWidget(canvas_);
  pages_->addWidget(table_view_);
  auto* body = new QWidget(this);
  auto* column = new QVBoxLayout(body);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
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
  connect(&map_, &NetworkMap::failed, this, &View::notify);
  connect(panel_, &ConfigPanel::lock_wanted, this, &NetworkView::turn_locks);
  connect(panel_, &ConfigPanel::solve_wanted, this, &NetworkView::solve);
  connect(panel_, &ConfigPanel::paint_wanted, this, &NetworkView::set_painting);
  connect(panel_, &ConfigPanel::why_wanted, this, &NetworkView::why_wanted);
  connect(&workspace, &Workspace::scene_changed, this, &NetworkView::follow_scene);
  connect(&selection(), &Selection::layers_changed, this, &NetworkView::follow_layers);
  connect(&workspace.jobs(), &Jobs::changed, this,
          [this] { panel_->set_solving(this->workspace().jobs().busy(QStringLiteral("solve"))); });
  canvas_->installEventFilter(this);
  table_view_->installEventFilter(this);
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
  colours_ = tool(tr("Colour: cut"), tr("Colour by cut, by cost, by op  (C)"));
  connect(colours_, &QToolButton::clicked, this, &NetworkView::next_colours);
  row->addWidget(colours_);
  QToolButton* fold = tool(tr("Blocks"), tr("Open or shut blocks"));
  fold->setPopupMode(QToolButton::InstantPopup);
  auto* menu = new QMenu(fold);
  menu->addAction(tr("Shut all blocks  (1)"), this, [this] { act(Qt::Key_1, {}); });
  menu->addAction(tr("Open all blocks  (2)"), this, [this] { act(Qt::Key_2, {}); });
  menu->addAction(tr("Show every layer  (3)"), this, [this] { act(Qt::Key_3, {}); });
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
  sorted_.setSourceModel(&layers_);
  sorted_.setSortRole(LayerTable::plain);
  sorted_.setFilterCaseSensitivity(Qt::CaseInsensitive);
  sorted_.setFilterKeyColumn(-1);
  table_view_->setModel(&sorted_);
  table_view_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_view_->setSortingEnabled(true);
  table_view_->sortByColumn(-1, Qt::AscendingOrder);
  table_view_->setAlternatingRowColors(true);
  table_view_->setShowGrid(false);
  table_view_->setFrameShape(QFrame::NoFrame);
  table_view_->setTextElideMode(Qt::ElideMiddle);
  table_view_->setWordWrap(false);
  table_view_->verticalHeader()->hide();
  table_view_->verticalHeader()->setDefaultSectionSize(table_view_->fontMetrics().height() + 6);
  table_view_->horizontalHeader()->setStretchLastSection(true);
  table_view_->horizontalHeader()->setHighlightSections(false);
  connect(table_view_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
          &NetworkView::pick_rows);
}

void NetworkView::follow_scene() {
  const QString& error = workspace().error();
  if (!error.isEmpty() || in_error_) notify(error);
  in_error_ = !error.isEmpty();
  if (!workspace().scene()) return;
  const bool first = !layers_.scene();
  layers_.set_scene(workspace().scene());
  if (first) table_view_->resizeColumnsToContents();
  follow_layers();
}

void NetworkView::follow_layers() {
  if (!layers_.scene()) return;
  following_ = true;
  QItemSelection rows;
  for (const LayerId layer : selection().layers()) {
    const QModelIndex row = sorted_.mapFromSource(layers_.index(static_cast<int>(layer()), 0));
    if (row.isValid()) rows.select(row, row);
  }
  table_view_->selectionModel()->select(
      rows, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  following_ = false;
}

void NetworkView::pick_rows() {
  if (following_) return;
  std::vector<LayerId> layers;
  for (const QModelIndex& row : table_view_->selectionModel()->selectedRows()) {
    layers.emplace_back(static_cast<std::size_t>(sorted_.mapToSource(row).row()));
  }
  selection().select_layers(std::move(layers));
}

void NetworkView::pick(const std::vector<std::size_t>& nodes, PickMode mode) {
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
  if (selection().layers().empty() || !workspace().scene()) return;
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
  notify(refused.isEmpty() ? QString() : tr("Not cut as %1: %2").arg(human_config(brush), refused));
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
  if (workspace().jobs().busy(QStringLiteral("solve"))) {
    return workspace().jobs().cancel(QStringLiteral("solve"));
  }
  notify({});
  solve_rest(
      workspace(), {},
      [this](const SolvedRest& found) {
        notify(found.optimal ? tr("Solved: %1 under Eq. 1, proved to be the least%2.")
                                   .arg(human_seconds(found.eq1),
                                        found.document.locked.empty()
                                            ? QString()
                                            : tr(" with the locked layers as they are"))
                             : tr("Solved: %1 under Eq. 1.").arg(human_seconds(found.eq1)));
      },
      [this](const QString& message) { notify(message); });
}

void NetworkView::show_table(bool table) {
  shown_->button(table ? 1 : 0)->setChecked(true);
  pages_->setCurrentIndex(table ? 1 : 0);
  content()->setFocusProxy(table ? static_cast<QWidget*>(table_view_) : canvas_);
  pages_->currentWidget()->setFocus();
}

void NetworkView::search(const QString& text) {
  found_ = map_.find(text);
  next_ = 0;
  canvas_->set_found({found_.begin(), found_.end()});
  sorted_.setFilterFixedString(text.trimmed());
  follow_layers();
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
  const auto next =
      static_cast<NetworkColours>((static_cast<int>(canvas_->colours()) + 1) % kNetworkColours);
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
    case Qt::Key_Escape:
      if (canvas_->painting()) return set_painting(false), true;
      return selection().select_layers({}), true;
    default:
      return false;
  }
}

QString NetworkView::command() const {
  const Document& document = workspace().document();
  if (document.empty()) return {};
  return QString::fromStdString("strata predict " + case_arguments(document) +
                                strategy_argument(document));
}

std::vector<KeyHelp> NetworkView::keys() const {
  return {{tr("arrows"), tr("to the next layer; with Shift select a range")},
          {tr("E, Enter"), tr("open a block, or a layer with what follows it")},
          {tr("Backspace"), tr("shut it again")},
          {QStringLiteral("1, 2, 3"), tr("blocks shut, blocks open, every layer")},
          {tr("Shift+click, Ctrl+click, drag"), tr("select a range, one more, a rectangle")},
          {QStringLiteral("Ctrl+A, Esc"), tr("select all, none")},
          {QStringLiteral("P"), tr("paint: layers that are clicked get the selected one's cut")},
          {QStringLiteral("L"), tr("lock or unlock the selected layers")},
          {QStringLiteral("Shift+S"), tr("solve the rest")},
          {QStringLiteral("Y"), tr("why is it cut so?")},
          {QStringLiteral("C"), tr("colour by cut, cost, op")},
          {QStringLiteral("T"), tr("graph or table")},
          {QStringLiteral("/"), tr("search; Enter goes from one to the next")},
          {QStringLiteral("F, +, -"), tr("fit, zoom in, zoom out")},
          {tr("wheel, Ctrl+wheel, middle button"), tr("scroll, zoom, pan")}};
}

QString NetworkView::csv() const {
  return layers_.csv();
}

}  // namespace strata::gui
