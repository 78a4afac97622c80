#include "gui/widgets/cluster/cluster_view.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QPointer>
#include <QShortcut>
#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <utility>

#include "gui/models/text.h"
#include "gui/models/timeline/plan_recording.h"
#include "sim/base/error.h"
#include "sim/text/units.h"

namespace strata::gui {
namespace {

constexpr std::size_t kBins = 400;  // of the strip: about a pixel each

QTableView* make_table(LinkTransferTable* model, QWidget* parent) {
  auto* table = new QTableView(parent);
  table->setModel(model);
  table->setSortingEnabled(true);
  table->sortByColumn(LinkTransferTable::bytes, Qt::DescendingOrder);
  table->setSelectionBehavior(QAbstractItemView::SelectRows);
  table->setAlternatingRowColors(true);
  table->setShowGrid(false);
  table->setTabKeyNavigation(false);
  table->verticalHeader()->hide();
  table->verticalHeader()->setDefaultSectionSize(table->fontMetrics().height() + 5);
  table->horizontalHeader()->setHighlightSections(false);
  table->horizontalHeader()->setStretchLastSection(true);
  table->setAccessibleName(QObject::tr("Transfers over the link"));
  return table;
}

}  // namespace

ClusterView::ClusterView(Workspace& workspace, QWidget* parent)
    : View(QStringLiteral("cluster"), tr("Cluster"), workspace, parent) {
  auto* split = new QSplitter(Qt::Horizontal, this);
  split->addWidget(make_picture());
  split->addWidget(make_details());
  split->setStretchFactor(0, 3);
  split->setStretchFactor(1, 1);
  split->setSizes({760, 400});
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
  field_ = new QLineEdit(canvas_);
  field_->hide();
  field_->setPlaceholderText(tr("25 GB/s or 2x"));
  field_->setAccessibleName(tr("Bandwidth of the link"));
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
  transfers_ = new LinkTransferTable(this);
  layout->addWidget(table_ = make_table(transfers_, details), 1);
  return details;
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
  connect(colour_, &QComboBox::currentIndexChanged, this,
          [this](int by) { canvas_->colour_by(by == 0 ? LinkColour::use : LinkColour::bytes); });
  auto* shortcut = new QShortcut(Qt::Key_C, this);
  shortcut->setContext(Qt::WidgetWithChildrenShortcut);
  connect(shortcut, &QShortcut::activated, this,
          [this] { colour_->setCurrentIndex(1 - colour_->currentIndex()); });
  connect(field_, &QLineEdit::returnPressed, this, &ClusterView::take_bandwidth);
  connect(field_, &QLineEdit::editingFinished, field_, &QWidget::hide);
  connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
          &ClusterView::pick_row);
  on_scene();
}

QString ClusterView::command() const {
  const Document& document = workspace().document();
  if (document.empty()) return {};
  return QString::fromStdString("strata predict " + case_arguments(document) +
                                strategy_argument(document) + " --json");
}

std::vector<KeyHelp> ClusterView::keys() const {
  return {{tr("Wheel, +, -"), tr("zoom")},
          {tr("F"), tr("fit the cluster into the window")},
          {tr(". ,"), tr("next, previous link")},
          {tr("C"), tr("colour links by use, or by bytes")},
          {tr("Enter, double click"), tr("another bandwidth for the link: 25 GB/s, or 2x")},
          {tr("Left, Right on the strip"), tr("scrub; with Shift by the range's length")},
          {tr("Escape on the strip"), tr("all of the time")}};
}

QString ClusterView::csv() const {
  return transfers_->rows().empty() ? QString() : transfers_->csv();
}

// The map and the history are made elsewhere: a thousand devices take a while.
void ClusterView::on_scene() {
  notify(workspace().error());
  const ScenePtr scene = workspace().scene();
  content()->setEnabled(scene != nullptr);
  if (!scene) {
    shown_.reset();
    canvas_->show_map({}, nullptr);
    if (workspace().error().isEmpty()) notify(tr("Open a cluster to see what its links carry."));
    return;
  }
  draw_scene();
}

void ClusterView::showEvent(QShowEvent* event) {
  View::showEvent(event);
  draw_scene();
}

// Nothing is drawn for nobody: while a slider is dragged there are better things to do.
void ClusterView::draw_scene() {
  const ScenePtr scene = workspace().scene();
  if (!isVisible() || !scene || scene == shown_) return;
  const double aspect = canvas_->height() > 0 ? double(canvas_->width()) / canvas_->height() : 1.6;
  workspace().jobs().start(
      QStringLiteral("cluster"), tr("Drawing the cluster"),
      [view = QPointer<ClusterView>(this), scene, aspect](Progress&) -> Jobs::Show {
        return [view, picture = picture_of(scene, aspect)] {
          if (view) view->on_picture(picture);
        };
      },
      [view = QPointer<ClusterView>(this)](const QString& message) {
        if (view) view->notify(message);
      },
      WhenStale::show);
}

ClusterView::Picture ClusterView::picture_of(const ScenePtr& scene, double aspect) {
  const Cluster& cluster = scene->input.cluster;
  auto history =
      std::make_shared<const LinkHistory>(scene->prediction.timeline, cluster.links().size());
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

void ClusterView::show_use() {
  if (!shown_) return;
  canvas_->show_use(link_use(*shown_, *history_, selection().range()));
  show_details();
}

void ClusterView::show_selection() {
  canvas_->select(selection().link(), selection().device());
  show_details();
}

void ClusterView::show_details() {
  const auto link = selection().link();
  if (!shown_ || !link || link->value >= shown_->input.cluster.links().size()) {
    title_->setText(tr("No link is picked"));
    facts_->setText(
        tr("Click a link to see what crosses it, layer by layer; double click it to "
           "give it another bandwidth."));
    return;
  }
  const Link& picked = shown_->input.cluster[*link];
  const LinkUse use = link_use(*shown_, *history_, selection().range());
  const QString rate = picked.bandwidth < kNoLimit ? human_rate(picked.bandwidth) : tr("no limit");
  const QString span = selection().range() ? tr("in the range") : tr("in a step");
  title_->setText(QString::fromStdString(picked.name));
  facts_->setText(tr("%1, latency %2%3\n%4 %5: %6 of what it could carry")
                      .arg(rate, human_seconds(picked.latency),
                           picked.kind.empty()
                               ? QString()
                               : tr(", kind %1").arg(QString::fromStdString(picked.kind)),
                           human_bytes({std::llround(use.bytes[(*link)()])}), span,
                           human_share(use.share[(*link)()])));
}

void ClusterView::show_transfers() {
  const auto link = selection().link();
  if (!shown_ || !link || link->value >= shown_->input.cluster.links().size()) {
    workspace().jobs().cancel(QStringLiteral("link"));
    return transfers_->show(nullptr, {});
  }
  workspace().jobs().start(
      QStringLiteral("link"), tr("Looking for what crosses a link"),
      [view = QPointer<ClusterView>(this), scene = shown_, link = *link,
       range = selection().range()](Progress&) -> Jobs::Show {
        return [view, scene, rows = link_transfers(*scene, link, range)] {
          if (!view) return;
          view->transfers_->show(scene, rows);
          const QHeaderView& header = *view->table_->horizontalHeader();
          view->transfers_->sort(header.sortIndicatorSection(), header.sortIndicatorOrder());
          view->table_->resizeColumnsToContents();
        };
      },
      [view = QPointer<ClusterView>(this)](const QString& message) {
        if (view) view->notify(message);
      },
      WhenStale::show);
}

void ClusterView::edit_bandwidth(LinkId link, const QPoint& at) {
  if (!shown_) return;
  edited_ = link;
  selection().select_link(link);
  const std::string key = "link." + shown_->input.cluster[link].name + ".bandwidth";
  const std::string set = workspace().document().what_if(key);
  field_->setText(set.empty() ? human_rate(shown_->input.cluster[link].bandwidth)
                              : QString::fromStdString(set));
  field_->adjustSize();
  field_->move(
      std::clamp(at.x() - field_->width() / 2, 0, std::max(0, canvas_->width() - field_->width())),
      std::clamp(at.y() - field_->height() / 2, 0,
                 std::max(0, canvas_->height() - field_->height())));
  field_->show();
  field_->setFocus();
  field_->selectAll();
}

// Of this direction alone: the other may be another.
void ClusterView::take_bandwidth() try {
  if (!edited_ || !shown_) return;
  const std::string text = field_->text().trimmed().toStdString();
  if (!text.empty()) is_factor(text) ? void(parse_factor(text)) : void(parse_bandwidth(text));
  const std::string key = "link." + shown_->input.cluster[*edited_].name + ".bandwidth";
  workspace().set_what_if(key, text);
  notify({});
  canvas_->setFocus();
} catch (const InputError& error) {
  notify(QString::fromStdString(error.message()));
}

void ClusterView::pick_row() {
  std::vector<LayerId> layers;
  for (const QModelIndex& row : table_->selectionModel()->selectedRows()) {
    layers.push_back(transfers_->rows()[static_cast<std::size_t>(row.row())].layer);
  }
  if (!layers.empty()) selection().select_layers(std::move(layers));
}

}  // namespace strata::gui
