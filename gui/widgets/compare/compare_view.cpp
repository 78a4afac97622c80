#include "gui/widgets/compare/compare_view.h"

#include <QHBoxLayout>
#include <QSplitter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

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

}  // namespace strata::gui
