#include "gui/widgets/network/network_view.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QVBoxLayout>

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
  colours_ = tool(tr("Colour: cut"), tr("Colour by cut, by cost, by op  (C)"));
  connect(colours_, &QToolButton::clicked, this, &NetworkView::next_colours);
  row->addWidget(colours_);
  QToolButton* fold = tool(tr("Blocks"), tr("Open or shut blocks"));
  fold->setPopupMode(QToolButton::InstantPopup);
  auto* menu = new QMenu(fold);
  add_block_actions(*menu);
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
  layers_.set_scene(workspace().scene());
  filter_rows(search_->text());
  follow_layers();
}

void NetworkView::follow_layers() {
  if (!layers_.scene()) return;
  following_ = true;
  QItemSelection rows;
  for (int row = 0; row < layers_.rowCount(); ++row) {
    const QModelIndex index = layers_.index(row, 0);
    if (selection().has_layer(layers_.rows()[std::size_t(row)])) rows.select(index, index);
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
  for (const std::size_t row : table_->picked_rows()) layers.push_back(layers_.rows()[row]);
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
  return layers_.csv();
}

}  // namespace strata::gui
