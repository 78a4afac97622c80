#include "gui/widgets/compare/compare_view.h"

#include <QFileDialog>
#include <QHBoxLayout>
#include <QShortcut>
#include <QSplitter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>
#include <array>

#include "gui/widgets/compare/linked_timelines.h"

namespace strata::gui {
namespace {

constexpr std::array<const char*, 4> kUsual = {"data", "model", "owt", "optimal"};

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
  layout->addWidget(make_headline());
  auto* upper = new QSplitter(Qt::Horizontal, panel);
  upper->addWidget(make_table());
  upper->addWidget(plot_ = new WaterfallPlot(panel));
  upper->setSizes({640, 420});
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
  table_->setSortingEnabled(true);
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
  const auto key = [this](QWidget* where, const QKeySequence& keys, auto action) {
    auto* shortcut = new QShortcut(keys, where);
    shortcut->setContext(where == this ? Qt::WidgetWithChildrenShortcut : Qt::WidgetShortcut);
    connect(shortcut, &QShortcut::activated, this, action);
  };
  for (const auto enter : {Qt::Key_Return, Qt::Key_Enter}) {
    key(table_, enter, &CompareView::take_over);
    key(table_, Qt::SHIFT | enter, &CompareView::give_over);
  }
  for (QWidget* const where : {static_cast<QWidget*>(table_), static_cast<QWidget*>(plot_)}) {
    key(where, Qt::Key_A, [this] { all_->toggle(); });
    key(where, Qt::Key_W,
        [this] { by_->setCurrentIndex((by_->currentIndex() + 1) % by_->count()); });
  }
  key(this, Qt::Key_B, [this] { workspace().pin_baseline(); });
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
          {tr("Shift+Enter"), tr("let the baseline cut them as they are now")},
          {tr("A"), tr("all layers, or only those that changed")},
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

}  // namespace strata::gui
