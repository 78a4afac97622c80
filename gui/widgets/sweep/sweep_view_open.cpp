// What the sweep view opens: files, and the cases of their rows.

#include <QFileDialog>
#include <QFileInfo>

#include "gui/models/file_kind.h"
#include "gui/models/sweep/stored_case.h"
#include "gui/widgets/sweep/sweep_view.h"
#include "sim/base/error.h"
#include "sim/scenario/scenario.h"
#include "sim/study/report/report.h"

namespace strata::gui {

bool SweepView::open(const QString& file) try {
  const std::string name = file.toStdString();
  switch (kind_of_file(name)) {
    case FileKind::database:
      open_readable(
          file, [name] { check_results(name); }, [this, name] { open_database(name); });
      return true;
    case FileKind::scenario:
      open_readable(
          file, [name] { read_scenario(name); },
          [this, name] {
            sweep_.open(name);
            report_offered_ = false;
            open_database(sweep_.database());
          });
      return true;
    default:
      return false;
  }
} catch (const Error& error) {
  notify(QString::fromStdString(error.message()));
  return true;
}

// What is open stays where the other cannot be read.
void SweepView::open_readable(const QString& file, std::function<void()> check,
                              std::function<void()> open) {
  notify({});
  opening_ = file;
  workspace().jobs().start(
      this, QStringLiteral("open sweep"), tr("Opening %1").arg(QFileInfo(file).fileName()),
      [check = std::move(check), open = std::move(open)](Progress&) -> Jobs::Show {
        check();
        return open;
      },
      [this, file](const QString& message) { complain(file.toStdString(), message); });
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
  QString why = tr("There are no rows yet. Drop a scenario (.toml) here to sweep it.");
  if (file_.reading()) {
    why = tr("Reading %1…").arg(name_->text());
  } else if (sweep_.state() == State::running || sweep_.state() == State::counting) {
    why = tr("Rows appear here as they come.");
  } else if (sweep_.state() == State::ready) {
    why = tr("No case is answered yet. Press S to start the sweep.");
  }
  results_.set_why_empty(why.toStdString());
}

void SweepView::show_report(bool shown) {
  body_->setCurrentIndex(shown ? 1 : 0);
  draw_report();
}

// As `strata report` has it, of the rows that are there; anew when more have come.
void SweepView::draw_report() {
  if (!report_button_->isChecked() || file_.file().empty()) return;
  if (!QFileInfo::exists(QString::fromStdString(file_.file()))) {
    return report_->say(tr("No case is answered yet. Press S to start the sweep."));
  }
  ReportRequest request;
  request.store = file_.file();
  if (!file_.scenario().empty()) request.scenario = file_.scenario();
  workspace().jobs().start(
      this, QStringLiteral("report"), tr("Drawing the report"),
      [this, request](Progress& progress) -> Jobs::Show {
        return [this, store = request.store,
                report = std::make_shared<const ReportDocument>(
                    make_report(request, progress.cancelled()))] {
          if (store == file_.file()) report_->show_report(report);
        };
      },
      [this](const QString& message) { report_->say(message); }, WhenStale::show);
}

void SweepView::choose_file() {
  auto* dialog = new QFileDialog(this, tr("Open a database or a scenario"), {},
                                 tr("Sweeps (*.db *.sqlite *.sqlite3 *.toml);;All files (*)"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setFileMode(QFileDialog::ExistingFile);
  connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& file) {
    if (open(file)) return;
    notify(
        tr("%1 is neither a database of a sweep nor a scenario").arg(QFileInfo(file).fileName()));
  });
  dialog->open();
}

void SweepView::open_row(std::uint32_t row) {
  workspace().jobs().start(
      this, QStringLiteral("open case"), tr("Opening a case"),
      [this, file = file_.file(), id = results_.all()->id(row)](Progress&) -> Jobs::Show {
        return [this, document = document_of_row(file, id)] { put_on_desk(document); };
      },
      [this](const QString& message) { notify(message); });
}

// As an edit, so that nothing that lay on the desk is lost.
void SweepView::put_on_desk(const Document& document) {
  notify({});
  if (workspace().document().empty()) return workspace().open(document);
  workspace().edit_to_case(tr("case of a sweep"), document);
}

}  // namespace strata::gui
