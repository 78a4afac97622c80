#include "gui/widgets/timeline/timeline_picture.h"

#include <QPainter>
#include <algorithm>
#include <map>
#include <utility>

#include "sim/plan/work_kind.h"

namespace strata::gui {
namespace {

QString text_of(const SliceStyle& style) {
  if (style.shade == Shade::level) return QObject::tr("use of a link");
  if (style.shade != Shade::task) return {};
  const auto role = role_of(style.kind, style.phase);
  if (!role) return {};
  if (style.again) return QObject::tr("recomputation");
  QString work = QString::fromStdString(std::string(name(role->work)));
  if (role->work != WorkKind::backward) return work;
  return style.phase == Phase::backward_data ? QObject::tr("backward: inputs")
                                             : QObject::tr("backward: parameters");
}

// That anybody would see in the step.
bool has_bubbles(const Recording& recording) {
  constexpr double kLeast = 0.003;
  if (!recording.step) return false;
  const double begin = recording.step->begin.value, end = recording.step->end.value;
  return std::ranges::any_of(recording.lanes, [&](const Lane& lane) {
    return lane.bubbles() != nullptr && lane.bubbles()->filled(begin, end) > kLeast * (end - begin);
  });
}

bool has_path(const Recording& recording) {
  return !recording.lanes.empty() && recording.lanes.front().name().kind == LaneKind::path;
}

}  // namespace

std::vector<LegendEntry> timeline_legend(const TimelineCanvas& canvas) {
  std::map<std::pair<int, QString>, SliceStyle> styles;  // in the order of works
  std::vector<LegendEntry> entries;
  const RecordingPtr& shown = canvas.recording(0);
  if (!shown) return entries;
  for (const SliceStyle& style : shown->styles) {
    const QString text = text_of(style);
    if (text.isEmpty()) continue;
    const auto role = role_of(style.kind, style.phase);
    const int order = style.shade == Shade::task ? static_cast<int>(role->work) : kWorkKinds;
    styles.try_emplace({order, text}, style).first->second.odd = false;
  }
  for (const auto& [key, style] : styles) {
    entries.push_back(
        {key.second, [style = style](const Theme& theme) { return colour_of(style, theme); }});
  }
  if (std::ranges::find(shown->styles, true, &SliceStyle::odd) != shown->styles.end()) {
    entries.push_back({QObject::tr("every other round"), [](const Theme& theme) {
                         return odd_round_colour(work_colour(WorkKind::forward, theme), theme);
                       }});
  }
  if (has_bubbles(*shown)) {
    entries.push_back(
        {QObject::tr("bubble"), [](const Theme& theme) { return theme.faint; }, Qt::BDiagPattern});
  }
  const RecordingPtr& beside = canvas.recording(1);
  if (beside && std::ranges::find(beside->styles, Shade::unknown, &SliceStyle::shade) !=
                    beside->styles.end()) {
    entries.push_back({QObject::tr("of no layer"), [](const Theme& t) { return t.faint; }});
  }
  if (has_path(*shown)) {
    entries.push_back({QObject::tr("critical path"), [](const Theme& t) { return t.critical; }});
  }
  return entries;
}

TimelinePicture::TimelinePicture(TimelineCanvas& canvas, const Legend& legend, QWidget* parent)
    : QWidget(parent), canvas_(canvas), legend_(legend) {
  hide();
}

void TimelinePicture::fit() {
  const QSize time = canvas_.viewport()->size();
  resize(time.width(), legend_height() + time.height());
}

void TimelinePicture::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  legend_.paint(painter, width());
  painter.translate(0, legend_height());
  painter.setClipRect(canvas_.viewport()->rect());
  canvas_.paint(painter);
}

}  // namespace strata::gui
