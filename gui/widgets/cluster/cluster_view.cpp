#include "gui/widgets/cluster/cluster_view.h"

#include <QClipboard>
#include <QFileDialog>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QMenu>
#include <QPushButton>
#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "gui/models/text.h"
#include "gui/models/timeline/plan_recording.h"
#include "sim/base/error.h"
#include "sim/text/units.h"

namespace strata::gui {
namespace {

constexpr std::size_t kBins = 400;  // of the strip: about a pixel each

}  // namespace

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

// The picked link: what it carries for whom, another bandwidth for it; and other clusters.

void ClusterView::show_use() {
  if (!shown_) return;
  use_ = link_use(*shown_, *history_, selection().range());
  canvas_->show_use(use_);
  show_details();
}

void ClusterView::show_selection() {
  canvas_->select(selection().link(), selection().device());
  show_details();
}

std::optional<LinkId> ClusterView::picked_link() const {
  const auto link = selection().link();
  const bool known = shown_ && link && link->value < shown_->input.cluster.links().size();
  return known ? link : std::nullopt;
}

void ClusterView::show_details() {
  const auto link = picked_link();
  table_->setVisible(link.has_value());
  if (!link) {
    title_->setText(tr("No link is picked"));
    facts_->setText(
        tr("Click a link (or press Down) to see what crosses it, layer by layer; double click it "
           "(or press Enter) to give it another bandwidth."));
    return;
  }
  const Link& picked = shown_->input.cluster[*link];
  const QString rate = picked.bandwidth < kNoLimit ? human_rate(picked.bandwidth) : tr("no limit");
  const QString span = selection().range() ? tr("in the range") : tr("in a step");
  title_->setText(QString::fromStdString(picked.name));
  facts_->setText(tr("%1, latency %2%3\n%4 %5: %6 of what it could carry")
                      .arg(rate, human_seconds(picked.latency),
                           picked.kind.empty()
                               ? QString()
                               : tr(", kind %1").arg(QString::fromStdString(picked.kind)),
                           human_bytes({std::llround(use_.bytes[(*link)()])}), span,
                           human_share(use_.share[(*link)()])));
}

void ClusterView::show_transfers() {
  const auto link = picked_link();
  if (!link) {
    workspace().jobs().cancel(QStringLiteral("link"));
    return transfers_->show(nullptr, {});
  }
  workspace().jobs().start(
      this, QStringLiteral("link"), tr("Looking for what crosses a link"),
      [this, scene = shown_, link = *link, range = selection().range()](Progress&) -> Jobs::Show {
        return [this, scene, rows = link_transfers(*scene, link, range)] {
          transfers_->show(scene, rows);
        };
      },
      [this](const QString& message) { notify(message); }, WhenStale::show);
}

std::string ClusterView::bandwidth_key(LinkId link) const {
  return "link." + shown_->input.cluster[link].name + ".bandwidth";
}

void ClusterView::edit_bandwidth(LinkId link, const QPoint& at) {
  if (!shown_) return;
  edited_ = link;
  selection().select_link(link);
  const std::string set = workspace().document().what_if(bandwidth_key(link));
  field_->open(
      set.empty() ? human_rate(shown_->input.cluster[link].bandwidth) : QString::fromStdString(set),
      at);
}

// Of this direction alone: the other may be another. What is no bandwidth stays to be mended.
void ClusterView::take_bandwidth() try {
  if (!edited_ || !shown_) return;
  const std::string text = field_->text().trimmed().toStdString();
  if (!text.empty()) is_factor(text) ? void(parse_factor(text)) : void(parse_bandwidth(text));
  notify({});
  field_->close();
  workspace().set_what_if(bandwidth_key(*edited_), text);
} catch (const InputError& error) {
  notify(QString::fromStdString(error.message()));
  field_->selectAll();
}

void ClusterView::pick_row() {
  std::vector<LayerId> layers;
  for (const std::size_t row : table_->picked_rows()) {
    layers.push_back(transfers_->rows()[row].layer);
  }
  if (!layers.empty()) selection().select_layers(std::move(layers));
}

void ClusterView::choose_cluster() {
  auto* dialog =
      new QFileDialog(this, tr("Import a cluster"), {}, tr("Clusters (*.toml);;All files (*)"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setFileMode(QFileDialog::ExistingFile);
  connect(dialog, &QFileDialog::fileSelected, this, &View::file_chosen);
  dialog->open();
}

// What of a scene is drawn, and when it is drawn anew.

// The map and the history are made elsewhere: a thousand devices take a while.
void ClusterView::on_scene() {
  notify({});
  const ScenePtr scene = workspace().scene();
  for (QWidget* shown : std::initializer_list<QWidget*>{canvas_, bar_, colour_}) {
    shown->setEnabled(scene != nullptr);
  }
  if (!scene) {
    shown_.reset();
    canvas_->show_map({}, nullptr);
    bar_->show_time({}, {}, std::nullopt);
    show_selection();
    show_transfers();
    if (workspace().error().isEmpty()) notify(tr("Open a cluster to see what its links carry."));
    return;
  }
  when_seen([this] { draw_scene(); });
}

void ClusterView::showEvent(QShowEvent* event) {
  View::showEvent(event);
  when_seen([this] { draw_scene(); });
}

// Nothing is drawn for nobody: while a slider is dragged there are better things to do. In a window
// of another shape hosts stand otherwise.
void ClusterView::draw_scene() {
  const ScenePtr scene = workspace().scene();
  if (!isVisible() || !scene) return;
  const double aspect = double(std::max(1, canvas_->width())) / std::max(1, canvas_->height());
  if (scene == shown_ && std::abs(std::log(aspect / drawn_aspect_)) < 0.1) return;
  drawn_aspect_ = aspect;
  workspace().jobs().start(
      this, QStringLiteral("cluster"), tr("Drawing the cluster"),
      [this, scene, aspect](Progress&) -> Jobs::Show {
        return [this, picture = picture_of(scene, aspect)] { on_picture(picture); };
      },
      [this](const QString& message) { notify(message); }, WhenStale::show);
}

ClusterView::Picture ClusterView::picture_of(const ScenePtr& scene, double aspect) {
  const Cluster& cluster = scene->input.cluster;
  auto history = std::make_shared<const LinkHistory>(
      scene->prediction.plan, scene->prediction.timeline, cluster.links().size());
  std::vector<double> busiest = history->busiest(cluster, kBins);
  const bool folded = cluster.device_count() > kMostDrawn;
  return {scene, map_of(cluster, folded, aspect), std::move(history), std::move(busiest)};
}

void ClusterView::on_picture(const Picture& picture) {
  shown_ = picture.scene;
  history_ = picture.history;
  canvas_->show_map(picture.map, shown_);
  const Timeline& timeline = shown_->prediction.timeline;
  bar_->show_time(timeline.makespan(), picture.busiest, steady_range(timeline));
  bar_->show_range(selection().range());
  show_use();
  show_selection();
  show_transfers();
}

// What the right button offers in the cluster: what its keys do, where the mouse is.

void ClusterView::fill_link_menu(QMenu& menu, LinkId link, const QPoint& at) {
  menu.addAction(tr("Another bandwidth ...  (Enter)"), this,
                 [this, link, at] { edit_bandwidth(link, at); });
  QAction* own = menu.addAction(tr("The cluster's own bandwidth"), this, [this, link] {
    if (shown_) workspace().set_what_if(bandwidth_key(link), {});
  });
  own->setEnabled(!workspace().document().what_if(bandwidth_key(link)).empty());
}

void ClusterView::fill_menu(QMenu& menu, const QPoint& at) {
  if (!shown_) return;
  const auto node = canvas_->node_at(at);
  const auto link = node ? std::nullopt : canvas_->link_at(at);
  if (link) fill_link_menu(menu, *link, at);
  if (node || link) {
    const std::string& name =
        node ? canvas_->map().nodes[*node].name : shown_->input.cluster[*link].name;
    menu.addAction(tr("Copy the name %1").arg(QString::fromStdString(name)), this,
                   [name] { QGuiApplication::clipboard()->setText(QString::fromStdString(name)); });
    menu.addSeparator();
  }
  const bool use = colour_->currentIndex() == 0;
  menu.addAction(use ? tr("Colour links by bytes  (C)") : tr("Colour links by use  (C)"), this,
                 [this, use] { colour_->setCurrentIndex(use ? 1 : 0); });
  menu.addAction(tr("All of the time  (Esc)"), bar_, &RangeBar::pick_all)
      ->setEnabled(selection().range().has_value());
  menu.addAction(tr("Fit the cluster into the window  (F)"), canvas_, &ClusterCanvas::fit);
  menu.addAction(tr("Import a cluster ...  (I)"), this, &ClusterView::choose_cluster);
}

}  // namespace strata::gui
