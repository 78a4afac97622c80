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
  QString work = QString::fromStdString(std::string(name(role->work)));
  if (role->work != WorkKind::backward) return work;
  return style.phase == Phase::backward_data ? QObject::tr("backward: inputs")
                                             : QObject::tr("backward: parameters");
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
    styles.try_emplace({order, text}, style);
  }
  for (const auto& [key, style] : styles) {
    entries.push_back(
        {key.second, [style = style](const Theme& theme) { return colour_of(style, theme); }});
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
