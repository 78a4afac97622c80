#include "gui/widgets/sweep/sweep_view.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QHeaderView>
#include <QLayout>
#include <QShortcut>
#include <QSignalBlocker>
#include <QTimer>

#include <fmt/format.h>

#include "gui/models/file_kind.h"
#include "gui/models/sweep/result_filter.h"
#include "gui/models/sweep/stored_case.h"
#include "sim/base/error.h"

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
  add_key(QKeySequence(Qt::Key_Escape), [this] { results_.clear_brushes(); });
  add_key(QKeySequence(Qt::Key_S), [this] { findChild<SweepBar*>()->button().click(); });
  for (const auto kind :
       {ResultCharts::lines, ResultCharts::heat, ResultCharts::pareto, ResultCharts::parallel}) {
    add_key(QKeySequence(Qt::Key_1 + static_cast<int>(kind)),
            [this, kind] { charts_->show_kind(kind); });
  }
}

SweepView::~SweepView() {
  workspace().jobs().cancel(QStringLiteral("open case"));
}

void SweepView::add_key(const QKeySequence& keys, const std::function<void()>& act) {
  auto* shortcut = new QShortcut(keys, this);
  shortcut->setContext(Qt::WidgetWithChildrenShortcut);
  connect(shortcut, &QShortcut::activated, this, act);
}

void SweepView::follow() {
  const auto complain = [this](const QString& message) { notify(message); };
  connect(&file_, &ResultFile::rows_read, this, &SweepView::take_rows);
  connect(&file_, &ResultFile::scenarios_read, this, &SweepView::list_scenarios);
  connect(&file_, &ResultFile::looked, this, &SweepView::say_why_empty);
  connect(&file_, &ResultFile::failed, this, complain);
  connect(&file_, &ResultFile::failed, this, [this] { results_.set_why_empty({}); });
  connect(&sweep_, &SweepRun::changed, this, &SweepView::say_why_empty);
  connect(&sweep_, &SweepRun::failed, this, complain);
  connect(&results_, &Results::changed, this, &SweepView::show_count);
  connect(&results_, &Results::current_changed, this, &SweepView::show_current);
  connect(&results_, &Results::wanted, this, &SweepView::open_row);
}

bool SweepView::open(const QString& file) try {
  const std::string name = file.toStdString();
  switch (kind_of_file(name)) {
    case FileKind::database:
      notify({});
      open_database(name);
      return true;
    case FileKind::scenario:
      notify({});
      sweep_.open(name);
      open_database(sweep_.database());
      return true;
    default:
      return false;
  }
} catch (const Error& error) {
  notify(QString::fromStdString(error.message()));
  return true;
}

void SweepView::open_database(const std::string& file, const std::string& scenario) {
  results_.set_all(
      std::make_shared<const ResultSet>(std::vector<ResultColumn>(), std::vector<std::int64_t>()));
  if (scenario.empty()) results_.clear_brushes();
  pages_->setCurrentIndex(1);
  name_->setText(QFileInfo(QString::fromStdString(file)).fileName());
  name_->setToolTip(QString::fromStdString(file));
  columns_.clear();
  file_.open(file, scenario);
  say_why_empty();
  settle_layout();
}

// What to do about a chart without rows, where it would be.
void SweepView::say_why_empty() {
  using State = SweepRun::State;
  QString why = tr("This database has no rows. Drop a scenario (.toml) here to fill one.");
  if (file_.reading()) {
    why = tr("Reading %1…").arg(name_->text());
  } else if (sweep_.state() == State::running || sweep_.state() == State::counting) {
    why = tr("Rows appear here as they come.");
  } else if (sweep_.state() == State::ready) {
    why = tr("No case is answered yet. Press S to start the sweep.");
  }
  results_.set_why_empty(why.toStdString());
}

// An export may come before the next event, and labels have new texts.
void SweepView::settle_layout() {
  for (QWidget* const widget : {pages_->currentWidget(), tools_}) widget->layout()->activate();
}

void SweepView::choose_file() {
  auto* dialog = new QFileDialog(this, tr("Open a database or a scenario"), {},
                                 tr("Sweeps (*.db *.sqlite *.sqlite3 *.toml);;All files (*)"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setFileMode(QFileDialog::ExistingFile);
  connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& file) {
    if (!open(file)) notify(tr("%1 is neither a database of a sweep nor a scenario").arg(file));
  });
  dialog->open();
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

void SweepView::open_row(std::uint32_t row) {
  workspace().jobs().start(
      QStringLiteral("open case"), tr("Opening a case"),
      [this, file = file_.file(), id = results_.all()->id(row)](Progress&) -> Jobs::Show {
        return [this, document = document_of_row(file, id)] { put_on_desk(document); };
      },
      [this](const QString& message) { notify(message); });
}

// As an edit, so that nothing that lay on the desk is lost.
void SweepView::put_on_desk(const Document& document) {
  const Document before = workspace().document();
  notify({});
  if (before.empty()) return workspace().open(document);
  workspace().edit(tr("case of a sweep"), document);
  if (before.input.model == document.input.model &&
      before.input.cluster == document.input.cluster) {
    return;
  }
  Document beside = document;
  beside.strategy = {};
  workspace().set_baseline(beside);
}

QString SweepView::command() const {
  const std::string file = shell_quoted(file_.file());
  if (sweep_.state() == SweepRun::State::running ||
      (results_.all()->rows() == 0 && sweep_.state() != SweepRun::State::none)) {
    return QString::fromStdString("strata sweep " + shell_quoted(sweep_.file()) + " --db " +
                                  shell_quoted(sweep_.database()));
  }
  if (file_.file().empty()) return {};
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
          {QStringLiteral("Enter"), tr("open the case of the row")},
          {QStringLiteral("S"), tr("start, stop or resume the sweep")}};
}

}  // namespace strata::gui
