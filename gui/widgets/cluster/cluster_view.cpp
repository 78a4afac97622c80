#include "gui/widgets/cluster/cluster_view.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QSplitter>
#include <QVBoxLayout>

namespace strata::gui {

ClusterView::ClusterView(Workspace& workspace, QWidget* parent)
    : View(QStringLiteral("cluster"), tr("Cluster"), workspace, parent) {
  auto* split = new QSplitter(Qt::Horizontal, this);
  split->addWidget(make_picture());
  split->addWidget(make_details());
  split->setStretchFactor(0, 3);
  split->setStretchFactor(1, 1);
  split->setSizes({700, 440});
  set_content(split);
  setFocusProxy(canvas_);
  follow();
}

QWidget* ClusterView::make_picture() {
  auto* picture = new QWidget(this);
  auto* layout = new QVBoxLayout(picture);
  layout->setContentsMargins(6, 6, 6, 6);
  layout->addWidget(canvas_ = new ClusterCanvas(picture), 1);
  layout->addWidget(bar_ = new RangeBar(picture));
  field_ = new BandwidthField(canvas_);
  return picture;
}

QWidget* ClusterView::make_details() {
  auto* details = new QWidget(this);
  auto* layout = new QVBoxLayout(details);
  layout->setContentsMargins(6, 6, 6, 6);
  auto* line = new QHBoxLayout;
  line->addWidget(new QLabel(tr("Colour by"), details));
  colour_ = new QComboBox(details);
  colour_->addItems({tr("use"), tr("bytes")});
  colour_->setToolTip(tr("What links are coloured by (C)"));
  line->addWidget(colour_);
  line->addStretch(1);
  auto* import = new QPushButton(tr("Import ..."), details);
  import->setToolTip(tr("Take the cluster of a .toml file (I)"));
  connect(import, &QPushButton::clicked, this, &ClusterView::choose_cluster);
  line->addWidget(import);
  layout->addLayout(line);
  layout->addWidget(title_ = new QLabel(details));
  QFont bold = title_->font();
  bold.setBold(true);
  title_->setFont(bold);
  layout->addWidget(facts_ = new QLabel(details));
  for (QLabel* label : {title_, facts_}) {
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  }
  layout->addWidget(make_table(details), 1);
  layout->addStretch(0);
  return details;
}

QWidget* ClusterView::make_table(QWidget* parent) {
  transfers_ = new LinkTransferTable(this);
  using Column = LinkTransferTable::Column;
  table_ = new FittedTable(transfers_, {Column::layer}, parent);
  table_->sortByColumn(LinkTransferTable::bytes, Qt::DescendingOrder);
  table_->setColumnHidden(Column::tasks, true);  // the bytes' tooltip has them, and the CSV
  table_->setAccessibleName(tr("Transfers over the link"));
  return table_;
}

void ClusterView::follow() {
  Workspace& desk = workspace();
  connect(&desk, &Workspace::scene_changed, this, &ClusterView::on_scene);
  connect(&selection(), &Selection::link_changed, this, [this] {
    show_selection();
    show_transfers();
  });
  connect(&selection(), &Selection::device_changed, this, &ClusterView::show_selection);
  connect(&selection(), &Selection::range_changed, this, [this] {
    bar_->show_range(selection().range());
    show_use();
    show_transfers();
  });
  connect(bar_, &RangeBar::picked, this, [this](auto range) { selection().select_range(range); });
  connect(canvas_, &ClusterCanvas::link_clicked, this,
          [this](auto link) { selection().select_link(link); });
  connect(canvas_, &ClusterCanvas::device_clicked, this,
          [this](auto device) { selection().select_device(device); });
  connect(canvas_, &ClusterCanvas::bandwidth_wanted, this, &ClusterView::edit_bandwidth);
  connect(canvas_, &ClusterCanvas::menu_wanted, this, &ClusterView::fill_menu);
  connect(canvas_, &ClusterCanvas::reshaped, this, &ClusterView::draw_scene);
  connect(canvas_, &ClusterCanvas::scrubbed, bar_, &RangeBar::scrub);
  connect(canvas_, &ClusterCanvas::all_wanted, bar_, &RangeBar::pick_all);
  connect(colour_, &QComboBox::currentIndexChanged, this,
          [this](int by) { canvas_->colour_by(by == 0 ? LinkColour::use : LinkColour::bytes); });
  add_key(Qt::Key_C, [this] { colour_->setCurrentIndex(1 - colour_->currentIndex()); });
  add_key(Qt::Key_I, [this] { choose_cluster(); });
  connect(field_, &QLineEdit::returnPressed, this, &ClusterView::take_bandwidth);
  connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
          &ClusterView::pick_row);
  on_scene();
}

QString ClusterView::command() const {
  return predict_command(" --json");
}

std::vector<KeyHelp> ClusterView::keys() const {
  return {{tr("Up, Down"), tr("previous, next link (, and . too)")},
          {tr("Enter, double click"), tr("another bandwidth for the link: 25 GB/s, or 2x")},
          {tr("Left, Right"), tr("scrub by a tenth of the range; with Shift by all of it")},
          {tr("Esc"), tr("all of the time; the bandwidth as it was")},
          {tr("C"), tr("colour links by use, or by bytes")},
          {tr("I"), tr("import a cluster's file")},
          {tr("right button, Menu"), tr("what can be done with a link or a device")},
          {tr("drag, Shift+wheel"), tr("move the sheet, sideways")},
          {tr("wheel, +, -"), tr("zoom about the mouse, about the middle")},
          {tr("F"), tr("fit the cluster into the window")}};
}

bool ClusterView::has_csv() const {
  return picked_link() ? !transfers_->rows().empty() : shown_ != nullptr;
}

// What crosses the picked link; where none is picked, all links.
std::function<QString()> ClusterView::csv_later() const {
  if (!has_csv()) return [] { return QString(); };
  if (picked_link()) return transfers_->csv_later();
  return [scene = shown_, use = use_, range = selection().range()] {
    return QString::fromStdString(print_csv(*scene, use, range));
  };
}

}  // namespace strata::gui
