#include "gui/widgets/compare/compare_view.h"

#include <QFileDialog>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QShortcut>
#include <QSignalBlocker>
#include <QSplitter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <utility>

#include "gui/models/text.h"
#include "gui/widgets/compare/linked_timelines.h"

namespace strata::gui {
namespace {

constexpr std::array<const char*, 4> kUsual = {"data", "model", "owt", "optimal"};
constexpr std::array<WaterfallBy, 4> kSums = {WaterfallBy::layer, WaterfallBy::work,
                                              WaterfallBy::eq1_layer, WaterfallBy::eq1_term};

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

bool same_case(const Document& a, const Document& b) {
  return a.input.model == b.input.model && a.input.cluster == b.input.cluster &&
         case_arguments(a) == case_arguments(b);
}

}  // namespace

CompareView::CompareView(Workspace& workspace, QWidget* parent)
    : View(QStringLiteral("compare"), tr("Compare"), workspace, parent) {
  auto* panel = new QWidget(this);
  auto* layout = new QVBoxLayout(panel);
  layout->setContentsMargins(8, 8, 8, 8);
  layout->addWidget(make_bar());
  auto* upper = new QSplitter(Qt::Horizontal, panel);
  upper->addWidget(make_table());
  upper->addWidget(plot_ = new WaterfallPlot(panel));
  upper->setSizes({760, 420});
  auto* split = new QSplitter(Qt::Vertical, panel);
  split->addWidget(upper);
  split->addWidget(timelines_ = new LinkedTimelines(workspace, panel));
  split->setSizes({380, 300});
  layout->addWidget(split, 1);
  set_content(panel);
  setFocusProxy(table_);
  follow();
}

QWidget* CompareView::make_bar() {
  auto* bar = new QWidget(this);
  auto* layout = new QHBoxLayout(bar);
  layout->setContentsMargins(0, 0, 0, 0);
  choice_ = new QComboBox(bar);
  choice_->setPlaceholderText(tr("another baseline"));
  choice_->addItems({tr("data parallelism"), tr("model parallelism"), tr("one weird trick (owt)"),
                     tr("the optimal strategy"), tr("what stands now"),
                     tr("a strategy's file ...")});
  choice_->setCurrentIndex(-1);
  choice_->setAccessibleName(tr("Baseline"));
  summary_ = new QLabel(bar);
  summary_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  by_ = new QComboBox(bar);
  by_->addItems({tr("by layer"), tr("by kind of work"), tr("Eq. 1 by layer"), tr("Eq. 1 by term")});
  by_->setToolTip(tr("What the waterfall's bars stand for (W)"));
  take_ = new QPushButton(tr("Take over"), bar);
  take_->setToolTip(tr("Cut the selected layers as the baseline does (Enter)"));
  layout->addWidget(new QLabel(tr("Compare with"), bar));
  layout->addWidget(choice_);
  layout->addWidget(summary_, 1);
  layout->addWidget(take_);
  layout->addWidget(by_);
  connect(choice_, &QComboBox::activated, this, &CompareView::choose_baseline);
  connect(by_, &QComboBox::currentIndexChanged, this, [this] { refresh(); });
  connect(take_, &QPushButton::clicked, this, &CompareView::take_over);
  return bar;
}

QWidget* CompareView::make_table() {
  differences_ = new DifferenceTable(this);
  table_ = new QTableView(this);
  table_->setModel(differences_);
  table_->setItemDelegate(new ChangeDelegate(table_));
  table_->setSortingEnabled(true);
  table_->sortByColumn(DifferenceTable::layer, Qt::AscendingOrder);
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setAlternatingRowColors(true);
  table_->setShowGrid(false);
  table_->setTabKeyNavigation(false);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(table_->fontMetrics().height() + 5);
  table_->horizontalHeader()->setHighlightSections(false);
  table_->setAccessibleName(tr("Layers that differ"));
  return table_;
}

void CompareView::follow() {
  connect(&workspace(), &Workspace::scene_changed, this, &CompareView::refresh);
  connect(&workspace(), &Workspace::baseline_changed, this, &CompareView::refresh);
  connect(&selection(), &Selection::layers_changed, this, &CompareView::show_selected);
  connect(plot_, &WaterfallPlot::picked, this,
          [this](LayerId layer) { selection().select_layers({layer}); });
  connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
          &CompareView::pick_rows);
  connect(timelines_, &LinkedTimelines::failed, this, &View::notify);
  const auto key = [this](const QKeySequence& keys, auto action) {
    auto* shortcut = new QShortcut(keys, this);
    shortcut->setContext(Qt::WidgetWithChildrenShortcut);
    connect(shortcut, &QShortcut::activated, this, action);
  };
  for (const int enter : {Qt::Key_Return, Qt::Key_Enter}) {
    auto* shortcut = new QShortcut(enter, table_);
    shortcut->setContext(Qt::WidgetShortcut);
    connect(shortcut, &QShortcut::activated, this, &CompareView::take_over);
  }
  key(Qt::Key_B, [this] { workspace().pin_baseline(); });
  key(Qt::Key_W, [this] { by_->setCurrentIndex((by_->currentIndex() + 1) % by_->count()); });
  refresh();
}

QString CompareView::command() const {
  const ScenePtr &scene = workspace().scene(), &baseline = workspace().baseline();
  if (!scene || !baseline || !same_case(scene->document, baseline->document)) return {};
  const auto strategy = [](const Scene& side, const char* file) {
    const StrategyChoice& choice = side.document.strategy;
    return shell_quoted(choice.edited() ? file : choice.source);
  };
  return QString::fromStdString("strata diff " + strategy(*baseline, "baseline.json") + " " +
                                strategy(*scene, "strategy.json") + " --model " +
                                case_arguments(scene->document));
}

std::vector<KeyHelp> CompareView::keys() const {
  return {{tr("Up, Down"), tr("choose a layer")},
          {tr("Enter"), tr("cut the selected layers as the baseline does")},
          {tr("W"), tr("what the waterfall's bars stand for")},
          {tr("B"), tr("pin what stands as the baseline")}};
}

QString CompareView::csv() const {
  return differences_->rows().empty() ? QString() : differences_->csv();
}

bool CompareView::open(const QString& file) {
  if (!file.endsWith(QLatin1String(".json")) || workspace().document().empty()) return false;
  set_strategy_baseline(file.toStdString());
  return true;
}

void CompareView::choose_baseline(int index) {
  choice_->setCurrentIndex(-1);
  if (workspace().document().empty()) return;
  const auto usual = static_cast<std::size_t>(index);
  if (usual < kUsual.size()) return set_strategy_baseline(kUsual[usual]);
  if (usual == kUsual.size()) return workspace().pin_baseline();
  const QString file = QFileDialog::getOpenFileName(this, tr("A strategy to compare with"), {},
                                                    tr("Strategies (*.json)"));
  if (!file.isEmpty()) set_strategy_baseline(file.toStdString());
}

void CompareView::set_strategy_baseline(const std::string& source) {
  Document other = workspace().document();
  other.strategy = {source, {}};
  workspace().set_baseline(other);
}

void CompareView::refresh() {
  notify(workspace().error());
  const ScenePtr &scene = workspace().scene(), &baseline = workspace().baseline();
  take_->setEnabled(scene && baseline);
  if (scene && baseline) {
    const WaterfallBy by = kSums[static_cast<std::size_t>(by_->currentIndex())];
    differences_->show(changed_layers(*baseline, *scene));
    const QHeaderView& header = *table_->horizontalHeader();
    differences_->sort(header.sortIndicatorSection(), header.sortIndicatorOrder());
    table_->resizeColumnsToContents();
    plot_->show_bars(waterfall(*baseline, *scene, by),
                     QString::fromStdString(waterfall_caption(by)));
  } else {
    differences_->show({});
    plot_->show_bars({}, {});
  }
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
  const auto recut = std::count_if(differences_->rows().begin(), differences_->rows().end(),
                                   [](const LayerDifference& row) { return row.recut; });
  const Seconds before = baseline->prediction.step_seconds(),
                after = scene->prediction.step_seconds();
  summary_->setText(
      tr("%1 %2  →  %3 %4 (%5), %6 cut otherwise")
          .arg(QString::fromStdString(baseline->document.strategy.label()), human_seconds(before),
               QString::fromStdString(scene->document.strategy.label()), human_seconds(after),
               before > after ? tr("%1 times as fast").arg(before / after, 0, 'f', 2)
                              : tr("%1 times as long").arg(after / before, 0, 'f', 2),
               counted(static_cast<std::size_t>(recut), tr("layer"))));
  summary_->setToolTip(summary_->text());
}

std::vector<std::string> CompareView::picked_layers() const {
  std::vector<std::string> layers;
  for (const QModelIndex& row : table_->selectionModel()->selectedRows()) {
    layers.push_back(differences_->rows()[static_cast<std::size_t>(row.row())].layer);
  }
  return layers;
}

void CompareView::take_over() {
  const ScenePtr &scene = workspace().scene(), &baseline = workspace().baseline();
  const std::vector<std::string> layers = picked_layers();
  if (!scene || !baseline) return;
  if (layers.empty()) return notify(tr("Select the layers to take over in the table first."));
  workspace().edit(tr("cut of %1 from the baseline").arg(counted(layers.size(), tr("layer"))),
                   with_cuts_of(*baseline, *scene, layers));
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
  for (const QModelIndex& row : table_->selectionModel()->selectedRows()) {
    const auto layer = differences_->rows()[static_cast<std::size_t>(row.row())].after;
    if (layer) layers.push_back(*layer);
  }
  picking_ = true;
  selection().select_layers(std::move(layers));
  picking_ = false;
}

}  // namespace strata::gui
