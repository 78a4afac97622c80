#include "gui/widgets/compare/linked_timelines.h"

#include <QSignalBlocker>
#include <QVBoxLayout>
#include <utility>

#include "gui/models/compare/differences.h"
#include "gui/models/text.h"
#include "gui/models/timeline/plan_recording.h"

namespace strata::gui {
namespace {

QString title_of(const Scene& scene) {
  return QObject::tr("%1 on %2, %3")
      .arg(QString::fromStdString(scene.document.strategy.label()),
           QString::fromStdString(shown_name(scene.document.input.cluster)),
           human_seconds(scene.prediction.step_seconds()));
}

}  // namespace

LinkedTimelines::LinkedTimelines(Workspace& workspace, QWidget* parent)
    : QWidget(parent), workspace_(workspace) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(2);
  upper_ = make_side(tr("No baseline"), upper_name_);
  lower_ = make_side(tr("Nothing is open"), lower_name_);
  link(upper_, lower_);
  link(lower_, upper_);
  Selection& selection = workspace.selection();
  connect(&selection, &Selection::range_changed, this, [this, &selection] {
    for (TimelineCanvas* canvas : {upper_, lower_}) canvas->set_range(selection.range());
  });
  connect(&selection, &Selection::layers_changed, this, &LinkedTimelines::show_layers);
  connect(upper_, &TimelineCanvas::picked, this, [this] { pick(*upper_, before_); });
  connect(lower_, &TimelineCanvas::picked, this, [this] { pick(*lower_, after_); });
}

TimelineCanvas* LinkedTimelines::make_side(const QString& hint, QLabel*& name) {
  name = new QLabel(hint, this);
  name->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  auto* canvas = new TimelineCanvas(this);
  canvas->set_hint(hint);
  layout()->addWidget(name);
  static_cast<QVBoxLayout*>(layout())->addWidget(canvas, 1);
  connect(canvas, &TimelineCanvas::range_picked, this,
          [this, canvas] { workspace_.selection().select_range(canvas->range()); });
  return canvas;
}

void LinkedTimelines::link(TimelineCanvas* from, TimelineCanvas* to) {
  connect(from, &TimelineCanvas::window_changed, to,
          [from, to] { to->set_window(from->window()); });
}

void LinkedTimelines::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  refresh();
}

void LinkedTimelines::refresh() {
  if (!isVisible()) return;
  const ScenePtr before = workspace_.baseline(), after = workspace_.scene();
  if (before == before_ && after == after_) return;
  workspace_.jobs().start(
      this, QStringLiteral("linked_timelines"), tr("Drawing both timelines"),
      [this, before, after](Progress&) -> Jobs::Show {
        return
            [this, before, after, upper = before ? record(before) : nullptr,
             lower = after ? record(after) : nullptr] { show_sides(before, after, upper, lower); };
      },
      [this](const QString& message) { emit failed(message); }, WhenStale::show);
}

void LinkedTimelines::show_sides(const ScenePtr& before, const ScenePtr& after,
                                 const RecordingPtr& upper, const RecordingPtr& lower) {
  before_ = before;
  after_ = after;
  {
    const QSignalBlocker quiet_upper(upper_), quiet_lower(lower_);
    std::optional<TimeFrame> both;
    if (upper && lower) both = frame_of_both(*lower, *upper);
    if (both) both->begin = 0;
    upper_->show_recordings(upper, nullptr, both);
    lower_->show_recordings(lower, nullptr, both);
  }
  upper_name_->setText(before ? tr("Baseline: ") + title_of(*before) : tr("No baseline"));
  lower_name_->setText(after ? tr("Now: ") + title_of(*after) : tr("Nothing is open"));
  upper_->set_window(lower_->window());
  show_layers();
}

void LinkedTimelines::show_layers() {
  const std::vector<LayerId>& layers = workspace_.selection().layers();
  lower_->set_layers(layers);
  const ScenePtr& now = workspace_.scene();
  upper_->set_layers(before_ && now ? same_layers(*now, layers, *before_) : layers);
}

void LinkedTimelines::pick(const TimelineCanvas& canvas, const ScenePtr& scene) {
  const auto slice = canvas.selected();
  const ScenePtr& now = workspace_.scene();
  if (!scene || !now) return;
  if (!slice) return workspace_.selection().select_layers({});
  const Recording& recording = *canvas.recording(slice->side);
  const LayerId layer = recording.labels[recording.at(slice->place).label].layer;
  if (layer.valid()) workspace_.selection().select_layers(same_layers(*scene, {layer}, *now));
}

}  // namespace strata::gui
