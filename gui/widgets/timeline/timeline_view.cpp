#include "gui/widgets/timeline/timeline_view.h"

#include <QAction>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "gui/models/file_kind.h"
#include "gui/models/text.h"
#include "gui/models/timeline/kernel_recording.h"
#include "gui/models/timeline/plan_recording.h"
#include "gui/models/timeline/recording_csv.h"
#include "gui/models/timeline/trace_recording.h"
#include "sim/base/error.h"

namespace strata::gui {
namespace {

constexpr auto kLane = "timeline", kTraceLane = "trace";
constexpr double kBeforeStrength = 0.45;  // of what is compared with

}  // namespace

TimelineView::TimelineView(Workspace& workspace, QWidget* parent)
    : View(QStringLiteral("timeline"), tr("Timeline"), workspace, parent) {
  auto* content = new QWidget(this);
  auto* layout = make_column(content);
  layout->addWidget(make_bar());
  canvas_ = new TimelineCanvas(content);
  legend_ = new Legend(std::vector<LegendEntry>());
  picture_ = new TimelinePicture(*canvas_, *legend_, content);
  layout->addWidget(legend_);
  range_panel_ = new RangePanel(workspace);
  auto* splitter = new QSplitter(Qt::Vertical);
  splitter->addWidget(canvas_);
  splitter->addWidget(range_panel_);
  splitter->setStretchFactor(0, 3);
  splitter->setStretchFactor(1, 2);
  splitter->setChildrenCollapsible(false);
  layout->addWidget(splitter, 1);
  auto* foot = new QWidget(content);
  auto* status_row = new QHBoxLayout(foot);
  status_row->setContentsMargins(8, 4, 8, 4);
  status_ = new ElidedLabel(foot);
  status_row->addWidget(status_);
  layout->addWidget(foot);
  set_foot(foot);
  set_content(content);
  content->setFocusProxy(canvas_);
  follow();
  follow_selection();
  refresh();
}

QWidget* TimelineView::make_bar() {
  auto* bar = new QWidget;
  auto* layout = new QHBoxLayout(bar);
  layout->setContentsMargins(8, 3, 8, 3);
  name_ = new ElidedLabel;
  found_ = new QLabel;
  search_ = new QLineEdit;
  search_->setPlaceholderText(tr("Search: layer, op or kind   /"));
  search_->setClearButtonEnabled(true);
  search_->setMinimumWidth(130);
  search_->setMaximumWidth(240);
  baseline_button_ =
      make_toggle(tr("Baseline"), tr("The baseline's lanes beneath each lane (B)"), true);
  make_links_button();
  fold_button_ = make_toggle(
      tr("Fold"), tr("Devices that do the same as one, with their number (Shift+G)"), false);
  close_button_ = new QToolButton;
  close_button_->setText(tr("Close trace"));
  close_button_->hide();
  layout->addWidget(name_, 2);
  layout->addWidget(search_, 1);
  for (QWidget* widget : std::initializer_list<QWidget*>{found_, close_button_, baseline_button_,
                                                         links_button_, fold_button_}) {
    layout->addWidget(widget);
  }
  return bar;
}

void TimelineView::make_links_button() {
  links_button_ = make_toggle(tr("Links"), tr("How busy the links are (L)"), true);
  links_button_->setPopupMode(QToolButton::MenuButtonPopup);
  auto* beside = new QAction(tr("Beside their devices"), links_button_);
  beside->setCheckable(true);
  links_button_->addAction(beside);
  connect(beside, &QAction::toggled, this, [this](bool on) { canvas_->show_links_beside(on); });
}

void TimelineView::follow() {
  const auto changed = [this] { when_seen([this] { refresh(); }); };
  connect(&workspace(), &Workspace::scene_changed, this, changed);
  connect(&workspace(), &Workspace::baseline_changed, this, changed);
  connect(baseline_button_, &QToolButton::toggled, this, &TimelineView::refresh);
  connect(links_button_, &QToolButton::toggled, canvas_, &TimelineCanvas::show_links);
  connect(fold_button_, &QToolButton::clicked, this, [this](bool folded) {
    canvas_->set_folded(folded);
    if (folded && !canvas_->has_alike()) {
      notify(tr("Nothing is folded: no two devices do the same at the same times."));
    }
  });
  connect(canvas_, &TimelineCanvas::folded_changed, this,
          [this] { fold_button_->setChecked(canvas_->folded()); });
  connect(close_button_, &QToolButton::clicked, this, &TimelineView::close_trace);
  connect(search_, &QLineEdit::textChanged, this, &TimelineView::on_search);
  connect(search_, &QLineEdit::returnPressed, canvas_, [this] { canvas_->pick_match(false); });
  add_key(
      Qt::Key_B, [this] { baseline_button_->toggle(); }, canvas_);
  add_key(
      Qt::Key_L, [this] { links_button_->toggle(); }, canvas_);
  add_key(QKeySequence::Find, [this] { search_->setFocus(); });
  add_key(
      Qt::SHIFT | Qt::Key_Return, [this] { canvas_->pick_match(true); }, search_);
  const auto give_up = [this] {
    search_->clear();
    canvas_->setFocus();
  };
  add_key(Qt::Key_Escape, give_up, search_);
}

void TimelineView::follow_selection() {
  connect(canvas_, &TimelineCanvas::picked, this, &TimelineView::on_picked);
  connect(canvas_, &TimelineCanvas::row_picked, this, &TimelineView::on_row_picked);
  connect(canvas_, &TimelineCanvas::range_picked, this, &TimelineView::on_range_picked);
  connect(canvas_, &TimelineCanvas::hovered, this, &TimelineView::tell);
  connect(range_panel_, &RangePanel::layer_picked, this, [this](LayerId layer) {
    if (is_current()) selection().select_layers({layer});
  });
  connect(canvas_, &TimelineCanvas::menu_wanted, this,
          [this](SliceAddress, QPoint at) { make_menu()->exec(at); });
  connect(canvas_, &TimelineCanvas::search_wanted, this, [this] { search_->setFocus(); });
  connect(&selection(), &Selection::task_changed, this, &TimelineView::on_task_changed);
  connect(&selection(), &Selection::layers_changed, this, &TimelineView::show_layers);
  connect(&selection(), &Selection::range_changed, this, [this] {
    canvas_->set_range(selection().range());
    show_range();
  });
}

// The scene stays on the screen until its successor's recording is made.
void TimelineView::refresh() {
  if (trace_) return;
  if (!workspace().error().isEmpty()) return;
  if (!kernels_) notify({});
  const ScenePtr scene = workspace().scene();
  const ScenePtr beside = kernels_                        ? scene
                          : baseline_button_->isChecked() ? workspace().baseline()
                                                          : nullptr;
  if (!scene) {
    scene_ = {};
    return show_scene({}, {});
  }
  workspace().jobs().start(
      this, QLatin1String(kLane), tr("Drawing the timeline"),
      [this, first = Recorded{scene, scene == scene_.scene ? scene_.recording : nullptr},
       second = Recorded{beside, beside == baseline_.scene ? baseline_.recording : nullptr},
       kernels = kernels_, name = trace_name()](Progress&) -> Jobs::Show {
        Recorded a = first, b = second;
        if (a.scene && !a.recording) a.recording = record(a.scene);
        std::string found;
        if (b.scene && !b.recording) {
          b.recording = kernels ? record_beside(kernels, name, b.scene) : record(b.scene);
          if (kernels) found = match_text(*kernels, name, *b.scene);
        }
        return [this, a, b, kernels, found] {
          if (kernels != kernels_) return;
          if (!found.empty()) notify(QString::fromStdString(found));
          scene_ = a;
          if (b.scene) baseline_ = b;
          if (!trace_) show_scene(a.recording, b.recording);
        };
      },
      [this](const QString& message) { notify(message); }, WhenStale::show);
}

void TimelineView::show_scene(const RecordingPtr& scene, const RecordingPtr& baseline) {
  // What is the same as the scene has nothing to say beside it.
  const bool same = !kernels_ && scene_.scene && baseline_.scene &&
                    scene_.scene->document == baseline_.scene->document;
  canvas_->set_sides({SideLook{}, kernels_ ? SideLook{tr("measured"), 1.0}
                                           : SideLook{tr("before"), kBeforeStrength}});
  const RecordingPtr beside = same ? nullptr : baseline;
  std::optional<TimeFrame> frame;
  if (scene && beside) frame = frame_of(*scene, beside.get());
  if (frame && !kernels_) frame->begin = 0;  // of the baseline's first steps nobody asks
  canvas_->show_recordings(scene, beside, frame);
  show_layers();
  canvas_->set_range(selection().range());
  show_range();
  canvas_->search(search_->text().toStdString());
  on_task_changed();
  show_hint();
  show_name();
}

void TimelineView::show_hint() {
  canvas_->set_hint(workspace().document().empty()
                        ? tr("Open a network on a cluster to see when each of its tasks runs, or "
                             "drop a trace file here.")
                        : tr("The timeline is being predicted."));
}

void TimelineView::show_name() {
  const RecordingPtr& shown = canvas_->recording(0);
  const RecordingPtr& beside = canvas_->recording(1);
  QString text = shown ? QString::fromStdString(shown->name) : QString();
  const QString& what = kernels_ ? tr("   measured: %1") : tr("   before: %1");
  if (beside) text += what.arg(QString::fromStdString(beside->name));
  name_->setText(text);
  const bool has_trace = trace_ || kernels_;
  close_button_->setVisible(has_trace);
  baseline_button_->setVisible(!has_trace);
  fold_button_->setChecked(canvas_->folded());
  legend_->set_entries(timeline_legend(*canvas_));
  tell(canvas_->selected());
}

QWidget& TimelineView::picture() {
  picture_->fit();
  return *picture_;
}

QString TimelineView::picture_title() const {
  const auto told = [](const Recorded& shown) {
    return tr("%1: a step takes %2")
        .arg(QString::fromStdString(shown.recording->name),
             human_seconds(shown.scene->prediction.step_seconds()));
  };
  const RecordingPtr& shown = canvas_->recording(0);
  if (!shown) return {};
  if (trace_ || shown != scene_.recording) return QString::fromStdString(shown->name);
  QString title = told(scene_);
  const RecordingPtr& beside = canvas_->recording(1);
  if (!beside) return title;
  return title + (kernels_ ? tr("     measured: ") + QString::fromStdString(beside->name)
                           : tr("     before: ") + told(baseline_));
}

bool TimelineView::open(const QString& file) try {
  const std::string path = file.toStdString();
  if (kind_of_file(path) != FileKind::trace) return false;
  workspace().jobs().start(
      this, QLatin1String(kTraceLane), tr("Reading %1").arg(QFileInfo(file).fileName()),
      [this, path, file, has_case = !workspace().document().empty()](Progress&) -> Jobs::Show {
        const auto trace = std::make_shared<const Trace>(read_trace(path));
        if (has_case && has_kernels(*trace)) {
          return [this, trace, file] { show_kernels(trace, file); };
        }
        const RecordingPtr recording = record(trace, QFileInfo(file).fileName().toStdString());
        return [this, recording, file] {
          trace_file_ = file;
          show_trace(recording);
          emit opened(file);
        };
      },
      [this](const QString& message) { notify(message); });
  return true;
} catch (const Error& error) {
  notify(QString::fromStdString(error.message()));
  return false;
}

// In the place of the baseline, whatever is predicted from now on.
void TimelineView::show_kernels(const std::shared_ptr<const Trace>& trace, const QString& file) {
  trace_file_ = file;
  trace_.reset();
  kernels_ = trace;
  baseline_ = {};
  canvas_->show_recordings(scene_.recording, nullptr);  // until they are matched
  refresh();
  emit opened(file);
}

std::string TimelineView::trace_name() const {
  return QFileInfo(trace_file_).fileName().toStdString();
}

void TimelineView::show_trace(const RecordingPtr& trace) {
  notify({});
  kernels_.reset();
  baseline_ = {};
  trace_ = trace;
  canvas_->show_recordings(nullptr, nullptr);
  canvas_->show_recordings(trace, nullptr);
  canvas_->set_range(std::nullopt);
  show_range();
  show_name();
  if (trace->slice_count() == 0)
    notify(tr("%1 holds no slices").arg(QFileInfo(trace_file_).fileName()));
}

void TimelineView::close_trace() {
  trace_.reset();
  if (kernels_) {
    kernels_.reset();
    baseline_ = {};
    notify({});
  }
  canvas_->show_recordings(nullptr, nullptr);
  if (scene_.recording)
    show_scene(scene_.recording, baseline_button_->isChecked() ? baseline_.recording : nullptr);
  refresh();
}

void TimelineView::show_baseline(bool shown) {
  baseline_button_->setChecked(shown);
}

QString TimelineView::command() const {
  return trace_ ? QString() : predict_command(" --trace timeline.json");
}

std::function<QString()> TimelineView::csv_later() const {
  return [shown = canvas_->recording(0), range = canvas_->window().range()] {
    return shown ? QString::fromStdString(print_csv(*shown, range)) : QString();
  };
}

std::vector<KeyHelp> TimelineView::keys() const {
  return {
      {tr("W, S"), tr("Zoom in and out, at the mouse; Ctrl+wheel, too")},
      {tr("A, D, ←, →"), tr("Move left and right; Shift+wheel or Shift+drag, too")},
      {tr("F"), tr("Fit the range or the selected task; once more: the step, then all")},
      {tr(". ,"), tr("Next and previous task of the lane")},
      {tr("↑, ↓"), tr("The task above or below at that time")},
      {tr("Drag"), tr("Measure a stretch of time, and add up what happens in it")},
      {tr("Right click"), tr("What can be done with a task")},
      {tr("Double click"), tr("Zoom to a task")},
      {tr("/, Ctrl+F"), tr("Search; Enter and Shift+Enter go through what is found")},
      {tr("B"), tr("The baseline beside each lane")},
      {tr("L"), tr("Links")},
      {tr("G"), tr("Open or close the group under the mouse: devices that do the same, a host")},
      {tr("Shift+G"), tr("Fold devices that do the same into one, or show each")},
      {tr("P"), tr("Pin the lane of the selected task to the top, or let it go")},
      {tr("Esc"), tr("Select nothing")}};
}

}  // namespace strata::gui
