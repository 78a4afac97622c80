#include "gui/widgets/sweep/sweep_view.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QLayout>
#include <QSignalBlocker>
#include <utility>

#include "gui/models/sweep/result_filter.h"

namespace strata::gui {

SweepView::SweepView(Workspace& workspace, QWidget* parent)
    : View(QStringLiteral("sweep"), tr("Sweep"), workspace, parent),
      table_(results_),
      file_(workspace.jobs()),
      sweep_(workspace.runner(), workspace.jobs()),
      pages_(new QStackedWidget(this)) {
  pages_->addWidget(make_empty_page());
  pages_->addWidget(make_page());
  set_content(pages_);
  follow();
  add_key(QKeySequence(Qt::Key_Slash), [this] { filter_->setFocus(); });
  add_key(QKeySequence::Find, [this] { filter_->setFocus(); });
  add_key(QKeySequence(Qt::Key_S), [this] { findChild<SweepBar*>()->button().click(); });
  add_key(QKeySequence(Qt::Key_R), [this] { report_button_->toggle(); });
  for (const auto kind :
       {ResultCharts::lines, ResultCharts::heat, ResultCharts::pareto, ResultCharts::parallel}) {
    add_key(QKeySequence(Qt::Key_1 + static_cast<int>(kind)),
            [this, kind] { charts_->show_kind(kind); });
  }
}

void SweepView::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) return show_all();
  View::keyPressEvent(event);
}

void SweepView::follow() {
  connect(&file_, &ResultFile::rows_read, this, &SweepView::take_rows);
  connect(&file_, &ResultFile::scenarios_read, this, &SweepView::list_scenarios);
  connect(&file_, &ResultFile::looked, this, &SweepView::say_why_empty);
  connect(&file_, &ResultFile::looked, this, [this] { say_opened(file_.file()); });
  connect(&file_, &ResultFile::looked, this, &SweepView::draw_report);
  connect(&file_, &ResultFile::failed, this,
          [this](const QString& message) { complain(file_.file(), message); });
  connect(&file_, &ResultFile::failed, this, [this] { results_.set_why_empty({}); });
  connect(&sweep_, &SweepRun::changed, this, &SweepView::say_why_empty);
  connect(&sweep_, &SweepRun::changed, this, [this] {
    if (sweep_.state() != SweepRun::State::ready) return;
    say_opened(sweep_.file());
    if (std::exchange(report_offered_, true) || !sweep_.has_report()) return;
    report_button_->setChecked(true);
  });
  connect(&sweep_, &SweepRun::failed, this,
          [this](const QString& message) { complain(sweep_.file(), message); });
  connect(&results_, &Results::changed, this, &SweepView::show_count);
  connect(&results_, &Results::current_changed, this, &SweepView::show_current);
  connect(&results_, &Results::wanted, this, &SweepView::open_row);
}

// A scenario whose database is broken was read before that.
void SweepView::complain(const std::string& file, const QString& message) {
  notify(message);
  const bool of_database = message.startsWith(QString::fromStdString(sweep_.database()));
  if (file == sweep_.file() && of_database) say_opened(file);
  if (opening_.toStdString() == file) opening_.clear();
}

// A scenario is when it is counted; its database may be read before, or not be there.
void SweepView::say_opened(const std::string& file) {
  if (opening_.toStdString() != file) return;
  opening_.clear();
  emit opened(QString::fromStdString(file));
}

void SweepView::show_all() {
  filter_->clear();
  results_.set_text({});
  results_.clear_brushes();
}

// An export may come before the next event, and labels have new texts.
void SweepView::settle_layout() {
  for (QWidget* const widget : {pages_->currentWidget(), tools_}) widget->layout()->activate();
}

void SweepView::list_scenarios() {
  const QSignalBlocker quiet(scenario_);
  scenario_->clear();
  scenario_->addItem(tr("all rows"), QString());
  for (const QString& name : file_.scenarios()) scenario_->addItem(name, name);
  scenario_->setCurrentIndex(
      std::max(0, scenario_->findData(QString::fromStdString(file_.scenario()))));
}

void SweepView::take_rows(const ResultSetPtr& rows) {
  results_.set_all(rows);
  QStringList names;
  for (const ResultColumn& column : rows->columns()) {
    if (column.varies() || !column.setting) names << QString::fromStdString(column.name);
  }
  if (names == columns_) return;
  columns_ = names;
  show_columns();
}

// What all rows have in common stands once above them.
void SweepView::show_columns() {
  const auto& columns = results_.all()->columns();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    rows_->setColumnHidden(static_cast<int>(i), columns[i].setting && !columns[i].varies());
  }
  rows_->resizeColumnsToContents();
}

void SweepView::show_count() {
  const std::size_t all = results_.all()->rows(), shown = results_.rows().size();
  count_->setText(shown == all ? tr("%L1 rows").arg(all)
                               : tr("%L1 of %L2 rows").arg(shown).arg(all));
  clear_->setEnabled(!results_.filter().empty());
  common_->setText(QString::fromStdString(results_.common()));
  show_current();  // the table was filled anew
  settle_layout();
}

void SweepView::show_current() {
  const auto row = results_.current();
  const auto place = row ? table_.place_of(*row) : std::nullopt;
  const QModelIndex now = rows_->currentIndex();
  if (!place) return rows_->clearSelection();
  if (now.isValid() && now.row() == *place) return;
  rows_->setCurrentIndex(table_.index(*place, std::max(0, now.column())));
}

QString SweepView::command() const {
  const std::string file = shell_quoted(file_.file());
  if (sweep_.state() == SweepRun::State::running ||
      (results_.all()->rows() == 0 && sweep_.state() != SweepRun::State::none)) {
    return QString::fromStdString("strata sweep " + shell_quoted(sweep_.file()) + " --db " +
                                  shell_quoted(sweep_.database()));
  }
  if (file_.file().empty()) return {};
  if (report_button_->isChecked()) {
    const std::string& name = file_.scenario();
    return QString::fromStdString("strata report " + file +
                                  (name.empty() ? "" : " --scenario " + shell_quoted(name)));
  }
  std::string text = "strata query " + file;
  const std::string where = where_clause(*results_.all(), results_.filter());
  if (!where.empty()) text += " " + shell_quoted("SELECT * FROM cases" + where);
  if (!file_.scenario().empty()) text += " --scenario " + shell_quoted(file_.scenario());
  return QString::fromStdString(text);
}

std::vector<KeyHelp> SweepView::keys() const {
  return {{QStringLiteral("/"), tr("filter: owt step<50ms devices>=4")},
          {QStringLiteral("1 2 3 4"), tr("lines, heat map, Pareto, parallel axes")},
          {tr("drag"), tr("brush a chart: all show what lies in it")},
          {QStringLiteral("Esc"), tr("let all rows pass again")},
          {QStringLiteral("← →"), tr("from row to row in a chart, ↑ ↓ in the table")},
          {tr("Enter, double click"), tr("open the case of the row")},
          {QStringLiteral("R"), tr("the scenario's report, or charts and rows again")},
          {QStringLiteral("S"), tr("start, stop or resume the sweep")}};
}

}  // namespace strata::gui
