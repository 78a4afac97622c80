#include "gui/widgets/memory/memory_canvas.h"

#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "gui/models/text.h"
#include "gui/models/timeline/plan_recording.h"
#include "gui/widgets/navigation.h"
#include "gui/widgets/time_ruler.h"

namespace strata::gui {
namespace {

constexpr int kLowestRow = 96, kHighestRow = 220;

QString kind_text(MemoryUseKind kind) {
  return QString::fromStdString(std::string(name(kind)));
}

}  // namespace

QColor colour_of(MemoryUseKind kind, const Theme& theme) {
  constexpr std::array<std::size_t, kMemoryUseKinds> kColours = {0, 3, 2, 4, 1};
  return category_colour(kColours[static_cast<std::size_t>(kind)], theme);
}

MemoryCanvas::MemoryCanvas(QWidget* parent) : QAbstractScrollArea(parent) {
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setFocusPolicy(Qt::StrongFocus);
  viewport()->setMouseTracking(true);
  show_tips(viewport(), [this](QPoint at) {
    const auto moment = moment_at(at);
    return moment ? text_at(*moment) : QString();
  });
  viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
  theme_ = theme_of(palette());
}

void MemoryCanvas::show_picture(std::shared_ptr<const MemoryPicture> picture) {
  const bool at_step = !picture_ || window_ == step_window();
  picture_ = std::move(picture);
  selected_.reset();
  if (picture_) {
    window_.set_limit(picture_->end);
    if (at_step) window_ = step_window();
    top_ = static_cast<double>(picture_->top(scale()));
  }
  lay_out();
}

void MemoryCanvas::set_hint(const QString& hint) {
  hint_ = hint;
  viewport()->update();
}

void MemoryCanvas::set_range(std::optional<TimeRange> range) {
  range_ = range;
  viewport()->update();
}

void MemoryCanvas::set_scale(MemoryScale scale) {
  wanted_scale_ = scale;
  if (picture_) top_ = static_cast<double>(picture_->top(scale));
  viewport()->update();
  emit scale_changed();
}

MemoryScale MemoryCanvas::scale() const {
  if (wanted_scale_ || !picture_) return wanted_scale_.value_or(MemoryScale::peak);
  return picture_->fitting_scale();
}

// One step is like any other: to see four of them first would only make each small.
TimeWindow MemoryCanvas::step_window() const {
  TimeWindow window(picture_->end);
  window.show(picture_->steady.begin.value, picture_->steady.end.value);
  return window;
}

// Once more, and it is the next larger.
void MemoryCanvas::fit() {
  const TimeWindow step = step_window();
  TimeWindow range = step, all = step;
  all.show_all();
  if (range_ && range_->length() > Seconds{0}) range.show(range_->begin.value, range_->end.value);
  if (window_ == step) return move(all);
  move(window_ == range ? step : range);
}

int MemoryCanvas::names() const {
  constexpr int kWanted = 214;
  return names_width(kWanted, viewport()->width());
}

// Few devices share the height.
int MemoryCanvas::row_height() const {
  const int room = viewport()->height() - kRuler;
  const auto devices = static_cast<int>(picture_ ? picture_->stacks.size() : 1);
  return std::clamp(room / std::max(devices, 1), kLowestRow, kHighestRow);
}

void MemoryCanvas::lay_out() {
  const int room = viewport()->height() - kRuler;
  const auto devices = static_cast<int>(picture_ ? picture_->stacks.size() : 0);
  verticalScrollBar()->setRange(0, std::max(0, devices * row_height() - room));
  verticalScrollBar()->setPageStep(std::max(room, 1));
  verticalScrollBar()->setSingleStep(row_height() / 3);
  viewport()->update();
}

QRect MemoryCanvas::row_box(std::size_t device) const {
  const int top = kRuler + static_cast<int>(device) * row_height() - verticalScrollBar()->value();
  return QRect(0, top, viewport()->width(), row_height());
}

QRectF MemoryCanvas::stack_box(std::size_t device) const {
  return QRectF(row_box(device)).adjusted(names(), 6, 0, -2);
}

QRect MemoryCanvas::time_area() const {
  return viewport()->rect().adjusted(names(), kRuler, 0, 0);
}

double MemoryCanvas::time_of(int x) const {
  return window_.to_time(x - names(), std::max(time_area().width(), 1));
}

double MemoryCanvas::x_of(double time) const {
  return names() + window_.to_x(time, std::max(time_area().width(), 1));
}

double MemoryCanvas::y_of(const QRectF& box, std::int64_t bytes) const {
  constexpr double kAir = 1.08;
  return box.bottom() - static_cast<double>(bytes) / (kAir * top_) * box.height();
}

std::optional<MemoryCanvas::Moment> MemoryCanvas::moment_at(QPoint at) const {
  if (!picture_ || !time_area().contains(at)) return std::nullopt;
  const int row = (at.y() - kRuler + verticalScrollBar()->value()) / row_height();
  if (row < 0 || row >= static_cast<int>(picture_->stacks.size())) return std::nullopt;
  return Moment{DeviceId(static_cast<std::size_t>(row)), time_of(at.x())};
}

MemoryCanvas::Moment MemoryCanvas::peak_of(DeviceId device) const {
  const MemoryStack& stack = picture_->stacks[device()];
  return {device, stack.levels[stack.peak].at};
}

DeviceId MemoryCanvas::fullest() const {
  const auto lower = [](const MemoryStack& a, const MemoryStack& b) {
    return a.peak_bytes() < b.peak_bytes();
  };
  const auto& stacks = picture_->stacks;
  return DeviceId(static_cast<std::size_t>(std::max_element(stacks.begin(), stacks.end(), lower) -
                                           stacks.begin()));
}

QPoint MemoryCanvas::point_of(const Moment& moment) const {
  const QRectF box = stack_box(moment.device());
  return {static_cast<int>(std::lround(x_of(moment.at))), static_cast<int>(box.center().y())};
}

void MemoryCanvas::select(std::optional<Moment> moment) {
  selected_ = moment;
  if (moment) {
    QScrollBar& bar = *verticalScrollBar();
    const int top = static_cast<int>(moment->device()) * row_height();
    if (top < bar.value()) bar.setValue(top);
    if (top + row_height() > bar.value() + bar.pageStep()) {
      bar.setValue(top + row_height() - bar.pageStep());
    }
    window_.reveal(moment->at, moment->at);
  }
  viewport()->update();
}

void MemoryCanvas::pick(const Moment& moment) {
  select(moment);
  emit picked();
}

void MemoryCanvas::step(int by) {
  if (!selected_) return;
  const auto& levels = picture_->stacks[selected_->device()].levels;
  const auto now = &picture_->stacks[selected_->device()].level_at(selected_->at) - levels.data();
  const auto next = std::clamp<std::ptrdiff_t>(now + by, 0, std::ssize(levels) - 1);
  pick({selected_->device, levels[static_cast<std::size_t>(next)].at});
}

void MemoryCanvas::move(const TimeWindow& window) {
  window_ = window;
  viewport()->update();
}

QString MemoryCanvas::text_at(const Moment& moment) const {
  const MemoryStack& stack = picture_->stacks[moment.device()];
  const MemoryStack::Level& level = stack.level_at(moment.at);
  QStringList lines{
      tr("%1 at %2: %3 of %4")
          .arg(QString::fromStdString(device_label(picture_->scene->input.cluster, moment.device)),
               human_seconds({moment.at}), human_bytes({level.total()}),
               human_bytes(stack.capacity))};
  for (std::size_t i = kMemoryUseKinds; i-- > 0;) {
    if (level.bytes[i] == 0) continue;
    lines << tr("%1: %2").arg(kind_text(static_cast<MemoryUseKind>(i)),
                              human_bytes({level.bytes[i]}));
  }
  return lines.join(QLatin1Char('\n'));
}

}  // namespace strata::gui
