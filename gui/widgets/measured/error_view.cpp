#include "gui/widgets/measured/error_view.h"

#include <QHBoxLayout>
#include <QSplitter>
#include <QThread>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/models/measured/real_run.h"
#include "gui/models/text.h"
#include "gui/widgets/measured/step_heading.h"

namespace strata::gui {
namespace {

constexpr int kLookEvery = 150;  // milliseconds

}  // namespace

ErrorView::ErrorView(Workspace& workspace, QWidget* parent)
    : View(QStringLiteral("measured"), tr("Predicted and measured"), workspace, parent) {
  auto* content = new QWidget(this);
  auto* layout = make_column(content);
  bar_ = new RunBar;
  doubts_ = new QLabel;
  doubts_->setWordWrap(true);
  doubts_->setMargin(6);
  doubts_->setAutoFillBackground(true);
  doubts_->setBackgroundRole(QPalette::ToolTipBase);
  doubts_->setForegroundRole(QPalette::ToolTipText);
  layout->addWidget(bar_);
  layout->addWidget(make_heading());
  layout->addWidget(doubts_);
  layout->addWidget(make_results(), 1);
  set_content(content);
  content->setFocusProxy(canvas_);
  follow();
  show_measured();
  show_state();
}

QWidget* ErrorView::make_heading() {
  numbers_ = new QWidget;
  auto* column = make_column(numbers_);
  auto* layout = new QHBoxLayout;
  layout->setContentsMargins(10, 0, 8, 4);
  layout->setSpacing(8);
  column->addLayout(layout);
  shown_step_ = new ElidedLabel;
  shown_step_->setToolTip(
      tr("Neither the first two steps of a round count nor its last. What took far longer than the "
         "fastest was preempted by other work on this machine: tasks are compared without it."));
  auto* shown_row = new QHBoxLayout;
  shown_row->setContentsMargins(10, 0, 8, 4);
  shown_row->addWidget(shown_step_);
  column->addLayout(shown_row);
  heading_ = new StepHeading;
  tolerance_ = new QSpinBox;
  tolerance_->setRange(0, 100);
  tolerance_->setSuffix(tr(" %"));
  tolerance_->setToolTip(tr("Tasks that are wrong by no more than this fade"));
  auto* label = new QLabel(tr("Tolerance"));
  label->setBuddy(tolerance_);
  layout->addWidget(heading_, 1);
  layout->addWidget(new ErrorScale);
  layout->addWidget(label);
  layout->addWidget(tolerance_);
  return numbers_;
}

QWidget* ErrorView::make_results() {
  auto* splitter = new QSplitter(Qt::Vertical);
  canvas_ = new TimelineCanvas;
  canvas_->set_sides({SideLook{tr("predicted"), 1}, SideLook{tr("measured"), 1}});
  model_ = new ErrorTable(this);
  table_ = new FittedTable(model_, {ErrorTable::kTask});
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setFrameShape(QFrame::NoFrame);
  table_->sortByColumn(ErrorTable::kShare, Qt::DescendingOrder);
  splitter->addWidget(canvas_);
  splitter->addWidget(table_);
  splitter->setStretchFactor(0, 3);
  splitter->setStretchFactor(1, 2);
  splitter->setChildrenCollapsible(false);
  return splitter;
}

void ErrorView::follow() {
  connect(bar_, &RunBar::run_or_stop_wanted, this, &ErrorView::run_or_stop);
  connect(&workspace(), &Workspace::measured_changed, this, &ErrorView::show_measured);
  connect(&workspace(), &Workspace::document_changed, this, &ErrorView::show_state);
  connect(&workspace().jobs(), &Jobs::changed, this, &ErrorView::show_state);
  connect(&clock_, &QTimer::timeout, this, &ErrorView::show_state);
  connect(tolerance_, &QSpinBox::valueChanged, this, &ErrorView::show_tolerance);
  connect(canvas_, &TimelineCanvas::picked, this, &ErrorView::on_picked);
  connect(table_, &FittedTable::row_picked, this, &ErrorView::on_row);
  add_key(Qt::Key_N, [this] { jump_to_worst(); });
  add_key(Qt::CTRL | Qt::Key_R, [this] { run_or_stop(); });
}

void ErrorView::run_or_stop() {
  if (workspace().jobs().busy(kRunnerLane)) {
    workspace().jobs().cancel(kRunnerLane);
    bar_->show_stopping();
  } else if (!workspace().document().empty()) {
    start();
  }
}

void ErrorView::start() {
  notify({});
  Runner& runner = workspace().runner();
  const RealRun run = bar_->request(workspace().document());
  workspace().jobs().start(
      this, kRunnerLane, tr("Running on %1").arg(QString::fromStdString(run.devices)),
      [this, &runner, run](Progress& progress) -> Jobs::Show {
        const auto tell = [&](const MeasureProgress& at) {
          progress.report(static_cast<double>(at.round) / static_cast<double>(at.of),
                          round_text(at, run));
        };
        const RealOutcome outcome = run_for_real(runner, run, progress.cancelled(), tell);
        const Shown shown{outcome, record_errors(outcome.measured),
                          explained_errors(*outcome.measured)};
        return [this, shown] {
          shown_ = shown;
          workspace().set_measured(shown.outcome.measured);
        };
      },
      [this](const QString& message) { notify(message); }, WhenStale::show);
}

void ErrorView::show_state() {
  const std::vector<JobState> all = workspace().jobs().running();
  const auto own = std::find_if(all.begin(), all.end(),
                                [](const JobState& job) { return job.lane == kRunnerLane; });
  const JobState* running = own == all.end() ? nullptr : &*own;
  if (running == nullptr) clock_.stop();
  if (running != nullptr && !clock_.isActive()) clock_.start(kLookEvery);
  bar_->show_state(running, !workspace().document().empty());
  show_hint(running);
}

void ErrorView::show_hint(const JobState* running) {
  if (running != nullptr) {
    canvas_->set_hint(
        tr("%1. First every shard is timed alone: the prediction is made of that. Then the "
           "strategy runs, in turns with the timing, and each task is compared.")
            .arg(running->what));
  } else if (workspace().document().empty()) {
    canvas_->set_hint(tr("Open a network: its strategy can be run on this machine's devices."));
  } else {
    canvas_->set_hint(
        tr("Run the strategy on this machine's devices: every task is measured and stands beside "
           "its prediction, coloured by how wrong that was."));
  }
}

// What is shown may have been asked for with other fields, of another document.
QString ErrorView::command() const {
  if (!shown_ && (workspace().document().empty() || !why_no_command().isEmpty())) return {};
  RealRun run = shown_ ? shown_->outcome.run : bar_->request(workspace().document());
  run.strategy_file = workspace().strategy_file(run.document);
  return QString::fromStdString(command_of(run));
}

QString ErrorView::why_no_command() const {
  if (shown_ || workspace().document().empty()) return {};
  return QString::fromStdString(gui::why_no_command(
      workspace().runner(), bar_->request(workspace().document()), workspace().scene().get()));
}

QString ErrorView::csv() const {
  return shown_ ? model_->csv() : QString();
}

std::vector<KeyHelp> ErrorView::keys() const {
  return {{tr("Ctrl+R"), tr("Run the strategy on this machine's devices, or stop")},
          {tr("N"), tr("To the worst prediction, then to the next worst")},
          {tr("W, S, A, D, F"), tr("Zoom, move and fit as in the timeline")},
          {tr(". ,"), tr("Next and previous task of the lane")}};
}

// What predicted and measured shows of an outcome, and how its picture and its table lead to each
// other.

void ErrorView::show_measured() {
  const MeasuredPtr& measured = workspace().measured();
  if (shown_ && shown_->outcome.measured != measured) shown_.reset();
  if (shown_) {
    canvas_->show_recordings(shown_->recordings.predicted, shown_->recordings.measured);
    model_->show(measured, shown_->errors);
  } else {
    canvas_->show_recordings(nullptr, nullptr);
    model_->show(nullptr, {});
  }
  table_->setVisible(shown_.has_value());
  show_tolerance();
  show_numbers();
}

void ErrorView::show_numbers() {
  numbers_->setVisible(shown_.has_value());
  heading_->show_outcome(shown_ ? std::optional(shown_->outcome) : std::nullopt);
  QStringList doubted;
  QString what;
  if (shown_) {
    const auto cores = static_cast<std::size_t>(std::max(QThread::idealThreadCount(), 0));
    for (const std::string& doubt : gui::doubts(shown_->outcome, cores)) {
      doubted << QString::fromStdString(doubt);
    }
    const Measured& measured = *shown_->outcome.measured;
    shown_step_->setText(
        tr("Shown: %1").arg(in_symbols(text_of(measured_steps(measured.measured)))));
    what = tr("%1, %2 on %3, batch %4")
               .arg(QString::fromStdString(measured.graph.name()),
                    QString::fromStdString(measured.strategy),
                    QString::fromStdString(measured.devices))
               .arg(measured.graph.batch());
  }
  doubts_->setText(doubted.join(QLatin1Char(' ')));
  doubts_->setVisible(!doubted.isEmpty());
  bar_->show_what(what);
}

void ErrorView::show_tolerance() {
  std::vector<bool> beyond;
  const RecordingPtr& recording = canvas_->recording(0);
  if (recording && shown_ && tolerance_->value() > 0) {
    beyond = labels_beyond(*recording, *shown_->outcome.measured, tolerance_->value() / 100.0);
  }
  canvas_->mark_labels(beyond);
}

void ErrorView::jump_to_worst() {
  if (!table_->picked()) table_->sortByColumn(ErrorTable::kShare, Qt::DescendingOrder);
  table_->pick_next();
}

// The row's worst task, measured, comes into view.
void ErrorView::on_row(int row) {
  const RecordingPtr& measured = canvas_->recording(1);
  if (!shown_ || !measured) return;
  const auto selected = canvas_->selected();
  if (selected) {
    const Slice& slice = canvas_->recording(selected->side)->at(selected->place);
    if (model_->row_of(TaskId(slice.id)) == row) return;
  }
  const TaskId worst = model_->worst_task(row);
  canvas_->select(SliceAddress{1, measured->place(static_cast<std::uint32_t>(worst()))}, true);
}

void ErrorView::on_picked() {
  const auto picked = canvas_->selected();
  if (!picked || !shown_) return;
  const Slice& slice = canvas_->recording(picked->side)->at(picked->place);
  if (const auto row = model_->row_of(TaskId(slice.id))) table_->pick(*row);
}

}  // namespace strata::gui
