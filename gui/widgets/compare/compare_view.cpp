#include "gui/widgets/compare/compare_view.h"

#include <QFileDialog>
#include <QHBoxLayout>
#include <QSignalBlocker>
#include <QSplitter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "gui/models/text.h"
#include "gui/widgets/compare/linked_timelines.h"

namespace strata::gui {
namespace {

// Pixels that all have room in, the one above the other and side by side.
constexpr int kRoomForTimelines = 520, kRoomForPlot = 1000;
enum Page { kTablePage, kPlotPage, kTimelinesPage };

// Better and worse in their colours.
class ChangeDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    const QVariant change = index.data(DifferenceTable::kChangeRole);
    if (!change.isValid() || option->text.isEmpty()) return;
    const Theme theme = theme_of(option->palette);
    option->palette.setColor(QPalette::Text, change.toDouble() > 0 ? theme.bad : theme.good);
  }
};

constexpr std::array<const char*, 5> kUsual = {"data", "model", "owt", "eq1", "optimal"};

bool same_case(const Document& a, const Document& b) {
  return a.input.model == b.input.model && a.input.cluster == b.input.cluster &&
         case_arguments(a) == case_arguments(b);
}

constexpr std::array<WaterfallBy, 4> kSums = {WaterfallBy::layer, WaterfallBy::work,
                                              WaterfallBy::eq1_layer, WaterfallBy::eq1_term};

QString ratio_of(const Scene& baseline, const Scene& scene) {
  const double faster = baseline.prediction.step_seconds() / scene.prediction.step_seconds();
  if (std::abs(faster - 1) < 0.0005) return QObject::tr("as long");
  if (faster > 1) return QObject::tr("%1 times as fast").arg(faster, 0, 'f', 2);
  return QObject::tr("%1 times as long").arg(1 / faster, 0, 'f', 2);
}

}  // namespace

CompareView::CompareView(Workspace& workspace, QWidget* parent)
    : View(QStringLiteral("compare"), tr("Compare"), workspace, parent) {
  auto* panel = new QWidget(this);
  auto* layout = new QVBoxLayout(panel);
  layout->setContentsMargins(8, 8, 8, 8);
  layout->addWidget(make_bar());
  layout->addWidget(make_headline());
  auto* upper = new QSplitter(Qt::Horizontal, panel);
  upper->addWidget(make_table());
  upper->addWidget(plot_ = new WaterfallPlot(panel));
  upper->setSizes({640, 420});
  auto* split = new QSplitter(Qt::Vertical, panel);
  split->addWidget(upper_ = upper);
  split->addWidget(timelines_ = new LinkedTimelines(workspace, panel));
  split->setSizes({380, 300});
  layout->addWidget(split, 1);
  set_content(panel);
  setFocusProxy(table_);
  follow();
  show_page();
}

void CompareView::resizeEvent(QResizeEvent* event) {
  View::resizeEvent(event);
  show_page();
}

// The table keeps its names, and timelines their lanes: what would be cramped takes turns.
void CompareView::show_page() {
  const bool low = height() < kRoomForTimelines, narrow = low && width() < kRoomForPlot;
  pages_->setVisible(low);
  pages_->setTabVisible(kPlotPage, narrow);
  pages_->updateGeometry();  // which it forgets
  const int page = pages_->currentIndex();
  table_->setVisible(!low || page == kTablePage);
  plot_->setVisible(!low || page == kPlotPage || (page == kTablePage && !narrow));
  upper_->setVisible(!low || page != kTimelinesPage);
  timelines_->setVisible(!low || page == kTimelinesPage);
  all_->setVisible(!low || page == kTablePage);
  by_->setVisible(plot_->isVisibleTo(this));
  QWidget* const beneath = page == kPlotPage ? static_cast<QWidget*>(plot_) : &timelines_->lower();
  setFocusProxy(table_->isVisibleTo(this) ? table_ : beneath);
}

QWidget* CompareView::make_bar() {
  auto* bar = new QWidget(this);
  auto* layout = new QHBoxLayout(bar);
  layout->setContentsMargins(0, 0, 0, 0);
  choice_ = new QComboBox(bar);
  choice_->setPlaceholderText(tr("another baseline"));
  choice_->addItems({tr("data parallelism"), tr("model parallelism"), tr("one weird trick (owt)"),
                     tr("the optimum under Eq. 1"), tr("the fastest found"), tr("what stands now"),
                     tr("a strategy's file ...")});
  choice_->setCurrentIndex(-1);
  choice_->setAccessibleName(tr("Baseline"));
  take_ = new QPushButton(tr("Take from baseline"), bar);
  take_->setToolTip(tr("Cut the selected layers as the baseline does (Enter)"));
  give_ = new QPushButton(tr("Give to baseline"), bar);
  give_->setToolTip(tr("Let the baseline cut the selected layers as they are now (Shift+Enter)"));
  layout->addWidget(new QLabel(tr("Compare with"), bar));
  layout->addWidget(choice_);
  layout->addStretch(1);
  layout->addWidget(take_);
  layout->addWidget(give_);
  connect(choice_, &QComboBox::activated, this, &CompareView::choose_baseline);
  connect(take_, &QPushButton::clicked, this, &CompareView::take_over);
  connect(give_, &QPushButton::clicked, this, &CompareView::give_over);
  return bar;
}

// What it comes to, in words, and what of it is shown.
QWidget* CompareView::make_headline() {
  auto* line = new QWidget(this);
  auto* layout = new QHBoxLayout(line);
  layout->setContentsMargins(0, 0, 0, 0);
  summary_ = new QLabel(line);
  summary_->setWordWrap(true);
  summary_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  all_ = new QCheckBox(tr("All layers"), line);
  all_->setToolTip(tr("Also those that did not change; they come last (A)"));
  by_ = new QComboBox(line);
  by_->addItems({tr("by layer"), tr("by kind of work"), tr("Eq. 1 by layer"), tr("Eq. 1 by term")});
  by_->setToolTip(tr("What the waterfall's bars stand for (W)"));
  pages_ = new QTabBar(line);
  pages_->setDrawBase(false);
  pages_->setExpanding(false);
  pages_->setUsesScrollButtons(false);
  pages_->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  pages_->setAccessibleName(tr("What is shown"));
  for (const QString& page : {tr("Layers"), tr("Waterfall"), tr("Timelines")}) pages_->addTab(page);
  connect(pages_, &QTabBar::currentChanged, this, &CompareView::show_page);
  layout->addWidget(pages_);
  layout->addWidget(summary_, 1);
  layout->addWidget(all_);
  layout->addWidget(by_);
  connect(all_, &QCheckBox::toggled, this, &CompareView::refresh);
  connect(by_, &QComboBox::currentIndexChanged, this, &CompareView::refresh);
  return line;
}

QWidget* CompareView::make_table() {
  differences_ = new DifferenceTable(this);
  using Column = DifferenceTable::Column;
  table_ =
      new FittedTable(differences_, {Column::cut_before, Column::cut_after, Column::layer}, this);
  table_->setItemDelegate(new ChangeDelegate(table_));
  table_->sortByColumn(DifferenceTable::layer, Qt::AscendingOrder);
  table_->setColumnHidden(DifferenceTable::step_before, true);  // a tooltip and the CSV have them
  table_->setColumnHidden(DifferenceTable::step_after, true);
  table_->setAccessibleName(tr("Layers that differ"));
  return table_;
}

void CompareView::follow() {
  const auto changed = [this] { when_seen([this] { refresh(); }); };
  connect(&workspace(), &Workspace::scene_changed, this, changed);
  connect(&workspace(), &Workspace::baseline_changed, this, changed);
  connect(&workspace(), &Workspace::baseline_changed, this, &CompareView::say_opened);
  connect(&selection(), &Selection::layers_changed, this, &CompareView::show_selected);
  connect(plot_, &WaterfallPlot::picked, this,
          [this](LayerId layer) { selection().select_layers({layer}); });
  connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
          &CompareView::pick_rows);
  connect(timelines_, &LinkedTimelines::failed, this, &View::notify);
  bind_keys();
  refresh();
}

// A and W move the timelines where those have the focus.
void CompareView::bind_keys() {
  for (const auto enter : {Qt::Key_Return, Qt::Key_Enter}) {
    add_key(
        enter, [this] { take_over(); }, table_, Qt::WidgetShortcut);
    add_key(
        Qt::SHIFT | enter, [this] { give_over(); }, table_, Qt::WidgetShortcut);
  }
  for (QWidget* const where : {static_cast<QWidget*>(table_), static_cast<QWidget*>(plot_)}) {
    const auto turn = [this] { by_->setCurrentIndex((by_->currentIndex() + 1) % by_->count()); };
    add_key(
        Qt::Key_A, [this] { all_->toggle(); }, where, Qt::WidgetShortcut);
    add_key(Qt::Key_W, turn, where, Qt::WidgetShortcut);
  }
  add_key(Qt::Key_B, [this] { workspace().pin_baseline(); });
}

std::vector<KeyHelp> CompareView::keys() const {
  return {{tr("Up, Down"), tr("choose a layer")},
          {tr("Enter"), tr("cut the selected layers as the baseline does")},
          {tr("Shift+Enter"), tr("let the baseline cut them as they are now")},
          {tr("A"), tr("all layers, or only those that changed")},
          {tr("W"), tr("what the waterfall's bars stand for")},
          {tr("B"), tr("pin what stands as the baseline")}};
}

QString CompareView::csv() const {
  return differences_->rows().empty() ? QString() : differences_->csv();
}

// What the scene is compared with.

QString CompareView::command() const {
  const ScenePtr &scene = workspace().scene(), &baseline = workspace().baseline();
  if (!scene || !baseline || !same_case(scene->document, baseline->document)) return {};
  const auto strategy = [](const Scene& side, const std::string& file) {
    const StrategyChoice& choice = side.document.strategy;
    return shell_quoted(choice.edited() ? file : choice.source);
  };
  return QString::fromStdString("strata diff " + strategy(*baseline, "baseline.json") + " " +
                                strategy(*scene, workspace().strategy_file(scene->document)) +
                                " --model " + case_arguments(scene->document));
}

bool CompareView::open(const QString& file) {
  if (!file.endsWith(QLatin1String(".json")) || workspace().document().empty()) return false;
  opening_ = file;
  set_strategy_baseline(file.toStdString());
  return true;
}

// It could be read, now that something is predicted of it.
void CompareView::say_opened() {
  const ScenePtr& baseline = workspace().baseline();
  if (opening_.isEmpty() || !baseline) return;
  if (baseline->document.strategy.source != opening_.toStdString()) return;
  emit opened(std::exchange(opening_, QString()));
}

void CompareView::choose_baseline(int index) {
  choice_->setCurrentIndex(-1);
  if (workspace().document().empty()) return;
  const auto usual = static_cast<std::size_t>(index);
  if (usual < kUsual.size()) return set_strategy_baseline(kUsual[usual]);
  if (usual == kUsual.size()) return workspace().pin_baseline();
  const QString file = QFileDialog::getOpenFileName(this, tr("A strategy to compare with"), {},
                                                    tr("Strategies (*.json)"));
  if (!file.isEmpty()) open(file);
}

void CompareView::set_strategy_baseline(const std::string& source) {
  Document other = workspace().document();
  other.strategy = {source, {}};
  workspace().set_baseline(other);
}

// What the two sides' difference is shown as, and what is done with the layers that are picked.

void CompareView::refresh() {
  notify({});
  const ScenePtr &scene = workspace().scene(), &baseline = workspace().baseline();
  for (QPushButton* button : {take_, give_}) button->setEnabled(scene && baseline);
  if (scene && baseline) {
    const WaterfallBy by = kSums[static_cast<std::size_t>(by_->currentIndex())];
    differences_->show(all_->isChecked() ? layer_differences(*baseline, *scene)
                                         : changed_layers(*baseline, *scene));
    plot_->show_bars(waterfall(*baseline, *scene, by), QString::fromStdString(waterfall_title(by)),
                     QString::fromStdString(waterfall_caption(by)));
  } else {
    differences_->show({});
    plot_->show_bars({}, {}, {});
  }
  timelines_->refresh();
  show_texts();
  show_selected();
}

void CompareView::show_texts() {
  const ScenePtr &scene = workspace().scene(), &baseline = workspace().baseline();
  if (!scene || !baseline) {
    summary_->setText({});
    if (workspace().error().isEmpty()) {
      notify(scene ? tr("Choose what to compare with.")
                   : tr("Open a network and a cluster, then compare strategies here."));
    }
    return;
  }
  const QString other = QString::fromStdString(other_case(*baseline, *scene)).toHtmlEscaped();
  summary_->setText(headline() + (other.isEmpty() ? QString() : QStringLiteral("<br>") + other));
}

QString CompareView::headline() const {
  const Scene &baseline = *workspace().baseline(), &scene = *workspace().scene();
  const auto recut = std::count_if(
      differences_->rows().begin(), differences_->rows().end(),
      [](const LayerDifference& row) { return row.before && row.after && row.recut; });
  const auto side = [](const Scene& shown) {
    return QStringLiteral("<b>%1</b> %2")
        .arg(QString::fromStdString(shown.document.strategy.label()).toHtmlEscaped(),
             human_seconds(shown.prediction.step_seconds()));
  };
  const auto alike =
      std::count_if(differences_->rows().begin(), differences_->rows().end(),
                    [](const LayerDifference& row) { return !row.recut && row.changed(); });
  QString text = tr("%1  →  %2 (%3), %4 cut otherwise")
                     .arg(side(baseline), side(scene), ratio_of(baseline, scene),
                          counted(static_cast<std::size_t>(recut), tr("layer")));
  if (alike > 0) text += tr("; below them, %1 cut alike with other costs").arg(alike);
  return text;
}

std::vector<std::string> CompareView::picked_layers() {
  std::vector<std::string> layers;
  for (const std::size_t row : table_->picked_rows()) {
    layers.push_back(differences_->rows()[row].layer);
  }
  if (layers.empty()) notify(tr("Select the layers to take over in the table first."));
  return layers;
}

// The next documents are made of the scenes that are shown: an edit that is still being predicted
// is not in them, and would be lost.
bool CompareView::up_to_date() {
  if (workspace().is_current() && !workspace().jobs().busy(QStringLiteral("baseline"))) return true;
  notify(workspace().error().isEmpty()
             ? tr("No cut is taken over: what was changed before is not predicted yet.")
             : workspace().error());
  return false;
}

void CompareView::take_over() {
  const ScenePtr &scene = workspace().scene(), &baseline = workspace().baseline();
  if (!scene || !baseline || !up_to_date()) return;
  const std::vector<std::string> layers = picked_layers();
  if (layers.empty()) return;
  workspace().edit(tr("cut of %1 from the baseline").arg(counted(layers.size(), tr("layer"))),
                   with_cuts_of(*baseline, *scene, layers));
}

// The baseline is no part of the document: there is nothing to undo, and nothing is lost that is
// not chosen again with two clicks.
void CompareView::give_over() {
  const ScenePtr &scene = workspace().scene(), &baseline = workspace().baseline();
  if (!scene || !baseline || !up_to_date()) return;
  const std::vector<std::string> layers = picked_layers();
  if (!layers.empty()) workspace().set_baseline(with_cuts_of(*scene, *baseline, layers));
}

void CompareView::show_by(WaterfallBy by) {
  by_->setCurrentIndex(static_cast<int>(by));
}

// The table's own selection is left as the user made it.
void CompareView::show_selected() {
  plot_->select(selection().layers());
  if (picking_) return;
  const QSignalBlocker quiet(table_->selectionModel());
  table_->clearSelection();
  for (std::size_t i = 0; i < differences_->rows().size(); ++i) {
    const auto layer = differences_->rows()[i].after;
    if (!layer || !selection().has_layer(*layer)) continue;
    const QModelIndex at = differences_->index(static_cast<int>(i), 0);
    table_->selectionModel()->select(at, QItemSelectionModel::Select | QItemSelectionModel::Rows);
    table_->scrollTo(at);
  }
  table_->viewport()->update();
}

void CompareView::pick_rows() {
  std::vector<LayerId> layers;
  for (const std::size_t row : table_->picked_rows()) {
    if (const auto layer = differences_->rows()[row].after) layers.push_back(*layer);
  }
  picking_ = true;
  selection().select_layers(std::move(layers));
  picking_ = false;
}

}  // namespace strata::gui
