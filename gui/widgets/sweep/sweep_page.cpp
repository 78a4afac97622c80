// How the sweep view is put together.

#include <QHBoxLayout>
#include <QHeaderView>
#include <QPushButton>
#include <QSplitter>
#include <QTimer>
#include <QVBoxLayout>

#include "gui/models/sweep/result_filter.h"
#include "gui/widgets/sweep/sweep_view.h"

namespace strata::gui {

QWidget* SweepView::make_empty_page() {
  auto* page = new QWidget(this);
  auto* text = new QLabel(
      tr("<h3>No sweep is open</h3><p>Drop a scenario (.toml) here to sweep it, or a database of a "
         "sweep (.db) to see what it has found.</p>"),
      page);
  text->setAlignment(Qt::AlignCenter);
  text->setWordWrap(true);
  auto* button = new QPushButton(tr("Open…"), page);
  connect(button, &QPushButton::clicked, this, &SweepView::choose_file);
  auto* all = new QVBoxLayout(page);
  all->addStretch(2);
  all->addWidget(text);
  all->addWidget(button, 0, Qt::AlignCenter);
  all->addStretch(3);
  return page;
}

QWidget* SweepView::make_page() {
  auto* page = new QWidget(this);
  charts_ = new ResultCharts(results_, workspace().jobs(), page);
  make_table();
  common_ = new QLabel(page);
  common_->setTextFormat(Qt::PlainText);
  common_->setForegroundRole(QPalette::PlaceholderText);
  common_->setContentsMargins(8, 3, 8, 3);
  common_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  auto* below = new QWidget(page);
  auto* rows = make_column(below);
  rows->addWidget(common_);
  rows->addWidget(rows_, 1);
  auto* split = new QSplitter(Qt::Vertical, page);
  split->addWidget(charts_);
  split->addWidget(below);
  split->setStretchFactor(0, 3);
  split->setStretchFactor(1, 2);
  split->setChildrenCollapsible(false);
  auto* all = make_column(page);
  tools_ = make_tools();
  all->addWidget(tools_);
  all->addWidget(new SweepBar(sweep_, page));
  report_ = new ReportPage(page);
  body_ = new QStackedWidget(page);
  body_->addWidget(split);
  body_->addWidget(report_);
  all->addWidget(body_, 1);
  return page;
}

QWidget* SweepView::make_tools() {
  auto* tools = new QWidget(this);
  auto* open = new QToolButton(tools);
  open->setText(tr("Open…"));
  connect(open, &QToolButton::clicked, this, &SweepView::choose_file);
  name_ = new QLabel(tools);
  name_->setTextFormat(Qt::PlainText);
  scenario_ = new QComboBox(tools);
  scenario_->setAccessibleName(tr("scenario"));
  scenario_->addItem(tr("all rows"), QString());
  connect(scenario_, &QComboBox::currentIndexChanged, this, [this] {
    open_database(file_.file(), scenario_->currentData().toString().toStdString());
  });
  filter_ = new QLineEdit(tools);
  filter_->setPlaceholderText(tr("Filter: owt step<50ms devices>=4"));
  filter_->setClearButtonEnabled(true);
  // Typing filters when it pauses.
  auto* pause = new QTimer(this);
  pause->setSingleShot(true);
  pause->setInterval(120);
  connect(filter_, &QLineEdit::textChanged, pause, qOverload<>(&QTimer::start));
  connect(pause, &QTimer::timeout, this, [this] {
    const std::string text = filter_->text().toStdString();
    results_.set_text(text);
    notify(QString::fromStdString(filter_error(*results_.all(), text)));
  });
  count_ = new QLabel(tools);
  clear_ = new QToolButton(tools);
  clear_->setText(tr("Show all"));
  clear_->setToolTip(tr("Let all rows pass again (Esc)"));
  clear_->setEnabled(false);
  connect(clear_, &QToolButton::clicked, this, &SweepView::show_all);
  report_button_ = make_toggle(
      tr("Report"), tr("The scenario's report, with its tables, charts and claims (R)"), false);
  connect(report_button_, &QToolButton::toggled, this, &SweepView::show_report);
  auto* row = new QHBoxLayout(tools);
  row->setContentsMargins(8, 6, 8, 2);
  row->addWidget(open);
  row->addWidget(name_);
  row->addWidget(scenario_);
  row->addWidget(report_button_);
  row->addWidget(filter_, 1);
  row->addWidget(count_);
  row->addWidget(clear_);
  return tools;
}

void SweepView::make_table() {
  rows_ = new QTableView(this);
  rows_->setModel(&table_);
  rows_->setSelectionBehavior(QAbstractItemView::SelectRows);
  rows_->setSelectionMode(QAbstractItemView::SingleSelection);
  rows_->setAlternatingRowColors(true);
  rows_->setShowGrid(false);
  rows_->setWordWrap(false);
  rows_->setTabKeyNavigation(false);
  rows_->verticalHeader()->hide();
  rows_->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  rows_->verticalHeader()->setDefaultSectionSize(rows_->fontMetrics().height() + 6);
  QHeaderView* const header = rows_->horizontalHeader();
  header->setResizeContentsPrecision(60);
  header->setSortIndicator(-1, Qt::AscendingOrder);
  header->setSortIndicatorClearable(true);
  header->setHighlightSections(false);
  rows_->setSortingEnabled(true);
  connect(rows_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& now) {
            if (now.isValid()) results_.set_current(table_.row_at(now.row()));
          });
  connect(rows_, &QTableView::doubleClicked, this,
          [this](const QModelIndex& index) { results_.open(table_.row_at(index.row())); });
  for (const Qt::Key key : {Qt::Key_Return, Qt::Key_Enter}) {
    const auto open = [this] {
      if (results_.current()) results_.open(*results_.current());
    };
    add_key(key, open, rows_, Qt::WidgetShortcut);
  }
}

}  // namespace strata::gui
