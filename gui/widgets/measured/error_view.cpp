#include "gui/widgets/measured/error_view.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QShortcut>
#include <QSplitter>
#include <QThread>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <memory>

#include "gui/models/text.h"

namespace strata::gui {
namespace {

/// All that talks to devices takes turns here.
constexpr auto kRunnerLane = "runner";

QString default_devices() {
  return QStringLiteral("cpu:%1").arg(std::clamp(QThread::idealThreadCount(), 1, 4));
}

QSpinBox* spin_box(int least, int most, int value, const QString& tip) {
  auto* box = new QSpinBox;
  box->setRange(least, most);
  box->setValue(value);
  box->setToolTip(tip);
  return box;
}

}  // namespace

ErrorView::ErrorView(Workspace& workspace, QWidget* parent)
    : View(QStringLiteral("measured"), tr("Predicted and measured"), workspace, parent) {
  auto* content = new QWidget(this);
  auto* layout = new QVBoxLayout(content);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(make_bar());
  layout->addWidget(make_results(), 1);
  set_content(content);
  content->setFocusProxy(canvas_);
  follow();
  show_measured();
  show_state();
}

QWidget* ErrorView::make_bar() {
  auto* bar = new QWidget;
  auto* layout = new QHBoxLayout(bar);
  layout->setContentsMargins(8, 3, 8, 3);
  devices_ = new QLineEdit(default_devices());
  devices_->setMaximumWidth(90);
  devices_->setToolTip(tr("This machine's devices: cpu:2 is two cores"));
  batch_ = spin_box(1, 4096, 4, tr("The samples that each device computes in a step"));
  rounds_ = spin_box(1, 100, 3, tr("How often measuring and running take turns"));
  run_ = new QPushButton(tr("Run"));
  tolerance_ = spin_box(0, 100, 0, tr("Tasks that are wrong by no more than this fade"));
  tolerance_->setSuffix(tr(" %"));
  summary_ = new QLabel;
  summary_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  const auto add = [&](const QString& text, QWidget* field) {
    auto* label = new QLabel(text);
    label->setBuddy(field);
    layout->addWidget(label);
    layout->addWidget(field);
  };
  add(tr("Run on"), devices_);
  add(tr("samples each"), batch_);
  add(tr("rounds"), rounds_);
  layout->addWidget(run_);
  layout->addSpacing(8);
  layout->addWidget(summary_, 1);
  add(tr("Tolerance"), tolerance_);
  return bar;
}

QWidget* ErrorView::make_results() {
  auto* splitter = new QSplitter(Qt::Vertical);
  canvas_ = new TimelineCanvas;
  canvas_->set_sides({SideLook{tr("predicted"), 1}, SideLook{tr("measured"), 1}});
  canvas_->set_hint(
      tr("Run the strategy on this machine's devices: every task is measured and "
         "stands beside its prediction, coloured by how wrong that was."));
  model_ = new ErrorTable(this);
  sorted_ = new QSortFilterProxyModel(this);
  sorted_->setSourceModel(model_);
  sorted_->setSortRole(Qt::UserRole);
  table_ = new QTableView;
  table_->setModel(sorted_);
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setAlternatingRowColors(true);
  table_->setShowGrid(false);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
  table_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  table_->horizontalHeader()->setStretchLastSection(false);
  table_->setSortingEnabled(true);
  table_->sortByColumn(ErrorTable::kShare, Qt::DescendingOrder);
  splitter->addWidget(canvas_);
  splitter->addWidget(table_);
  splitter->setStretchFactor(0, 3);
  splitter->setStretchFactor(1, 2);
  splitter->setChildrenCollapsible(false);
  return splitter;
}

void ErrorView::follow() {
  connect(run_, &QPushButton::clicked, this, &ErrorView::run_or_stop);
  connect(devices_, &QLineEdit::returnPressed, this, &ErrorView::run_or_stop);
  connect(&workspace(), &Workspace::measured_changed, this, &ErrorView::show_measured);
  connect(&workspace(), &Workspace::document_changed, this, &ErrorView::show_state);
  connect(&workspace().jobs(), &Jobs::changed, this, &ErrorView::show_state);
  connect(tolerance_, &QSpinBox::valueChanged, this, &ErrorView::show_tolerance);
  connect(canvas_, &TimelineCanvas::picked, this, &ErrorView::on_picked);
  connect(canvas_, &TimelineCanvas::range_picked, this, &ErrorView::show_summary);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& now) {
            if (now.isValid()) on_row(sorted_->mapToSource(now).row());
          });
  const auto on_key = [this](const QKeySequence& keys, auto action) {
    auto* shortcut = new QShortcut(keys, this);
    shortcut->setContext(Qt::WidgetWithChildrenShortcut);
    connect(shortcut, &QShortcut::activated, this, action);
  };
  on_key(Qt::Key_N, &ErrorView::jump_to_worst);
  on_key(Qt::CTRL | Qt::Key_Return, &ErrorView::run_or_stop);
}

RealRun ErrorView::request() const {
  RealRun run;
  run.document = workspace().document();
  run.devices = devices_->text().trimmed().toStdString();
  run.batch_per_device = batch_->value();
  run.rounds = static_cast<std::size_t>(rounds_->value());
  return run;
}

void ErrorView::run_or_stop() {
  if (workspace().jobs().busy(QLatin1String(kRunnerLane))) {
    workspace().jobs().cancel(QLatin1String(kRunnerLane));
  } else if (!workspace().document().empty()) {
    start();
  }
}

void ErrorView::start() {
  notify({});
  Runner& runner = workspace().runner();
  workspace().jobs().start(
      QLatin1String(kRunnerLane), tr("Running on %1").arg(devices_->text()),
      [this, &runner, run = request()](Progress& progress) -> Jobs::Show {
        const MeasuredPtr measured =
            run_for_real(runner, run, progress.cancelled(), [&](const MeasureProgress& at) {
              progress.report(static_cast<double>(at.round) / static_cast<double>(at.of), at.what);
            });
        return [this, measured] { workspace().set_measured(measured); };
      },
      [this](const QString& message) { notify(message); });
}

void ErrorView::show_state() {
  const bool running = workspace().jobs().busy(QLatin1String(kRunnerLane));
  run_->setText(running ? tr("Stop") : tr("Run"));
  run_->setEnabled(running || !workspace().document().empty());
}

void ErrorView::show_measured() {
  shown_ = workspace().measured();
  if (shown_) {
    const ErrorRecordings recordings = record_errors(shown_);
    canvas_->show_recordings(recordings.predicted, recordings.measured);
  } else {
    canvas_->show_recordings(nullptr, nullptr);
  }
  model_->set_measured(shown_);
  show_tolerance();
  show_summary();
}

void ErrorView::show_tolerance() {
  std::vector<bool> beyond;
  const RecordingPtr& recording = canvas_->recording(0);
  if (recording && shown_ && tolerance_->value() > 0) {
    beyond = labels_beyond(*recording, *shown_, tolerance_->value() / 100.0);
  }
  canvas_->mark_labels(beyond);
}

void ErrorView::show_summary() {
  if (!shown_) return summary_->setText({});
  const Seconds predicted = shown_->comparison.predicted_step;
  const Seconds measured = shown_->comparison.measured_step;
  const double error = relative_error(predicted, measured);
  summary_->setText(tr("%1, %2 on %3: predicted %4, measured %5 (%6%7)")
                        .arg(QString::fromStdString(shown_->graph.name()),
                             QString::fromStdString(shown_->strategy),
                             QString::fromStdString(shown_->devices), human_seconds(predicted),
                             human_seconds(measured), error > 0 ? QStringLiteral("+") : QString(),
                             human_share(error)));
  summary_->setToolTip(summary_->text());
}

void ErrorView::jump_to_worst() {
  if (sorted_->rowCount() == 0) return;
  const QModelIndex now = table_->currentIndex();
  if (!now.isValid()) table_->sortByColumn(ErrorTable::kShare, Qt::DescendingOrder);
  const int next = now.isValid() ? (now.row() + 1) % sorted_->rowCount() : 0;
  table_->setCurrentIndex(sorted_->index(next, 0));
}

// The row's worst task, measured, comes into view.
void ErrorView::on_row(int row) {
  const RecordingPtr& measured = canvas_->recording(1);
  if (!shown_ || !measured) return;
  const SlicePlace place = measured->place(static_cast<std::uint32_t>(model_->worst_task(row)()));
  const auto selected = canvas_->selected();
  const bool same_row =
      selected &&
      row_of(shown_->plan[TaskId(canvas_->recording(selected->side)->at(selected->place).id)]) ==
          row;
  if (!same_row) canvas_->select(SliceAddress{1, place}, true);
}

int ErrorView::row_of(const Task& task) const {
  for (int i = 0; i < model_->rowCount(); ++i) {
    const ErrorRow& row = model_->row(i);
    if (row.layer == task.layer && row.kind == task.kind && row.phase == task.phase) return i;
  }
  return -1;
}

void ErrorView::on_picked() {
  const auto picked = canvas_->selected();
  if (!picked || !shown_) return;
  const Slice& slice = canvas_->recording(picked->side)->at(picked->place);
  select_row(row_of(shown_->plan[TaskId(slice.id)]));
}

void ErrorView::select_row(int row) {
  if (row < 0) return;
  table_->setCurrentIndex(sorted_->mapFromSource(model_->index(row, 0)));
}

QString ErrorView::command() const {
  if (workspace().document().empty()) return {};
  return QString::fromStdString(command_of(request()));
}

QString ErrorView::csv() const {
  return shown_ ? QString::fromStdString(model_->csv()) : QString();
}

std::vector<KeyHelp> ErrorView::keys() const {
  return {{tr("Ctrl+Enter"), tr("Run the strategy on this machine's devices, or stop")},
          {tr("N"), tr("To the worst prediction, then to the next worst")},
          {tr("W, S, A, D, F"), tr("Zoom, move and fit as in the timeline")},
          {tr(". ,"), tr("Next and previous task of the lane")}};
}

}  // namespace strata::gui
