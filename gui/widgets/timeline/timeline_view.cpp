#include "gui/widgets/timeline/timeline_view.h"

#include <QAction>
#include <QClipboard>
#include <QFileInfo>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QMenu>
#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>
#include <optional>
#include <utility>

#include "gui/models/compare/differences.h"
#include "gui/models/file_kind.h"
#include "gui/models/text.h"
#include "gui/models/timeline/kernel_recording.h"
#include "gui/models/timeline/lanes.h"
#include "gui/models/timeline/plan_recording.h"
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
  status_->set_lines(2);
  status_row->addWidget(status_);
  layout->addWidget(foot);
  set_foot(foot);
  set_content(content);
  content->setFocusProxy(canvas_);
  follow();
  follow_selection();
  refresh();
}

// Where there is little room, lanes have it.
void TimelineView::resizeEvent(QResizeEvent* event) {
  constexpr int kLow = 340;
  View::resizeEvent(event);
  status_->set_lines(height() < kLow ? 1 : 2);
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
  connect(canvas_, &TimelineCanvas::menu_wanted, this, &TimelineView::open_menu);
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
  const bool other_network = workspace().document().input.model != trace_model_;
  if (kernels_ && other_network) {
    const QString text = tr("%1 was closed: it stood beside %2");
    const QString name = QFileInfo(trace_file_).fileName();
    close_trace();
    closed_for_ = workspace().document();
    return notify(text.arg(name, QString::fromStdString(shown_name(trace_model_))));
  }
  if (!workspace().error().isEmpty()) return;
  const Document& document = workspace().document();
  const bool another = shown_model_ == document.input.model && closed_for_ != document;
  if (!kernels_ && another) notify({});
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
       kernels = kernels_, name = trace_name()](Progress& progress) -> Jobs::Show {
        Recorded a = first, b = second;
        if (a.scene && !a.recording) a.recording = record(a.scene);
        std::string found;
        if (b.scene && !b.recording) {
          b.recording = kernels ? record_beside(kernels, name, b.scene, progress.cancelled())
                                : record(b.scene);
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
  // A trace is looked at as a whole, a baseline only as far as it stands beside the step.
  if (scene && beside)
    frame = kernels_ ? frame_of_both(*scene, *beside) : frame_of(*scene, beside.get());
  if (frame && !kernels_) frame->begin = 0;  // of the baseline's first steps nobody asks
  const std::string model = scene_.scene ? scene_.scene->document.input.model : std::string();
  if (std::exchange(shown_model_, model) != model) canvas_->look_at_step();
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
      [this, path, file,
       has_case = !workspace().document().empty()](Progress& progress) -> Jobs::Show {
        const auto trace = std::make_shared<const Trace>(read_trace(path, progress.cancelled()));
        if (has_case && has_kernels(*trace)) {
          return [this, trace, file] { show_kernels(trace, file); };
        }
        const RecordingPtr recording =
            record(trace, QFileInfo(file).fileName().toStdString(), progress.cancelled());
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
  trace_model_ = workspace().document().input.model;
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
      {tr("W, S"),
       tr("Zoom in and out, at the mouse; Ctrl+wheel, and the wheel on the ruler, too")},
      {tr("A, D, ←, →"), tr("Move left and right; Shift+wheel and the wheel sideways, too")},
      {tr("Shift+drag"), tr("Move in time and among the lanes; the middle or right button, too")},
      {tr("F"), tr("Fit the range or the selected task; once more: the step, then all")},
      {tr(". ,"), tr("Next and previous task of the lane")},
      {tr("↑, ↓"), tr("The task above or below at that time")},
      {tr("Drag"),
       tr("Measure a stretch of time, and add up what happens in it; its ends can be dragged")},
      {tr("M"), tr("Measure the time of the selected task")},
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

// The timeline's part in the one selection that all views follow, and what it tells of it.

void TimelineView::on_search(const QString& text) {
  const std::size_t found = canvas_->search(text.toStdString());
  const QString count = found == 1 ? tr("one kind of task") : tr("%1 kinds of task").arg(found);
  found_->setText(text.isEmpty() ? QString() : count);
}

// While a successor is drawn, what is on the screen speaks of layers and devices that were.
bool TimelineView::is_current() const {
  return scene_.scene && scene_.scene == workspace().scene();
}

// The baseline may be of another network: its layers are those of the same names.
void TimelineView::show_layers() {
  const std::vector<LayerId>& layers = selection().layers();
  const auto in = [&](const ScenePtr& shown) {
    const ScenePtr& now = workspace().scene();
    return shown && now ? same_layers(*now, layers, *shown) : std::vector<LayerId>();
  };
  canvas_->set_layers(in(scene_.scene), in(baseline_.scene));
}

void TimelineView::on_picked() {
  tell(canvas_->selected());
  if (trace_) return;
  picking_ = true;
  const auto picked = canvas_->selected();
  if (!picked) {
    selection().select_task(std::nullopt);
    selection().select_layers({});
  } else if (is_current()) {
    select_slice(*picked);
  }
  picking_ = false;
}

void TimelineView::select_slice(SliceAddress picked) {
  if (picked.side == 1 && !baseline_.scene) return;
  const Recording& recording = *canvas_->recording(picked.side);
  const Slice& slice = recording.at(picked.place);
  const LayerId layer = recording.labels[slice.label].layer;
  const Scene& shown = picked.side == 0 ? *scene_.scene : *baseline_.scene;
  if (layer.valid()) selection().select_layers(same_layers(shown, {layer}, *scene_.scene));
  select_lane(recording.lanes[picked.place.lane].name(), picked.side);
  const bool knows_tasks = picked.side == 0 || kernels_;
  if (knows_tasks && recording.facts) selection().select_task(recording.facts->task(slice.id));
}

// Another cluster's devices and links have no place in this one.
void TimelineView::select_lane(const LaneName& lane, std::uint32_t side) {
  const bool same = side == 0 || (baseline_.scene && baseline_.scene->document.input.cluster ==
                                                         scene_.scene->document.input.cluster);
  if (same && lane.device) selection().select_device(lane.device);
  if (same && lane.link) selection().select_link(lane.link);
}

void TimelineView::on_row_picked(LaneRow row) {
  if (trace_ || !is_current()) return;
  select_lane(canvas_->recording(row.side)->lanes[row.lane].name(), row.side);
}

void TimelineView::on_range_picked() {
  if (trace_) return show_range();
  selection().select_range(canvas_->range());
}

void TimelineView::on_task_changed() {
  if (picking_ || trace_) return;
  const RecordingPtr& shown = canvas_->recording(0);
  if (!shown || !shown->facts || !is_current()) return;
  const auto task = selection().task();
  const auto id = task ? shown->facts->find(*task) : std::nullopt;
  canvas_->select(id ? std::optional(SliceAddress{0, shown->place(*id)}) : std::nullopt, true);
  tell(canvas_->selected());
}

void TimelineView::show_range() {
  range_panel_->show_range(canvas_->recording(0), canvas_->range());
  tell(canvas_->selected());
}

QStringList TimelineView::facts_of(const SliceAddress& slice) const {
  const Recording& shown = *canvas_->recording(slice.side);
  const Slice& at = shown.at(slice.place);
  QStringList facts;
  if (shown.place(at.id).valid() && shown.facts) {
    const double shift = canvas_->shift(slice.side);  // as the axis above has it
    for (const std::string& line : shown.facts->lines(at.id, shift)) {
      facts << QString::fromStdString(line);
    }
    if (slice.side == 1 && !kernels_ && !facts.isEmpty()) facts[0] = tr("before: ") + facts[0];
  } else {
    facts << QString::fromStdString(text_of(shown, slice.place));
  }
  return facts;
}

// What is under the mouse, else what is selected.
void TimelineView::tell(std::optional<SliceAddress> slice) {
  if (!slice) slice = canvas_->selected();
  status_->setText(slice ? facts_of(*slice).join(ElidedLabel::between()) : QStringLiteral(" "));
}

void TimelineView::open_menu(const SliceAddress& slice, QPoint at) {
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  const Recording& shown = *canvas_->recording(slice.side);
  const LaneLabel& label = shown.labels[shown.at(slice.place).label];
  const QString name = QString::fromStdString(label.text);
  menu->addAction(tr("Zoom to it"), this, [this] { canvas_->zoom_to_selected(); });
  menu->addAction(tr("Measure its time"), this, [this] { canvas_->measure_selected(); });
  menu->addAction(tr("Search for %1").arg(name), this, [this, name] { search_->setText(name); });
  menu->addAction(tr("Pin its lane, or let it go"), this, [this] { canvas_->toggle_pin(); });
  menu->addSeparator();
  menu->addAction(tr("Copy what is known of it"), this, [text = facts_of(slice)] {
    QGuiApplication::clipboard()->setText(text.join(QLatin1Char('\n')));
  });
  menu->popup(at);
}

}  // namespace strata::gui
