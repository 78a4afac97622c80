#include "gui/widgets/memory/memory_canvas.h"

#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "gui/models/text.h"
#include "gui/models/timeline/plan_recording.h"

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

MemoryCanvas::MemoryCanvas(QWidget* parent) : TimeCanvas(parent) {
  constexpr int kNames = 214;
  set_wanted_names(kNames);
}

void MemoryCanvas::show_picture(std::shared_ptr<const MemoryPicture> picture) {
  const bool follows = follows_step();
  picture_ = std::move(picture);
  selected_.reset();
  if (picture_) {
    show_all_of(0, picture_->end, follows);
    top_ = static_cast<double>(picture_->top(scale()));
  }
  lay_out();
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

// Few devices share the height.
int MemoryCanvas::row_height() const {
  const int room = viewport()->height() - kRulerHeight;
  const auto devices = static_cast<int>(picture_ ? picture_->stacks.size() : 1);
  return std::clamp(room / std::max(devices, 1), kLowestRow, kHighestRow);
}

void MemoryCanvas::lay_out() {
  const auto devices = static_cast<int>(picture_ ? picture_->stacks.size() : 0);
  set_scrolled(devices * row_height(), 0, row_height() / 3);
}

QRect MemoryCanvas::row_box(std::size_t device) const {
  const int top =
      kRulerHeight + static_cast<int>(device) * row_height() - verticalScrollBar()->value();
  return QRect(0, top, viewport()->width(), row_height());
}

QRectF MemoryCanvas::stack_box(std::size_t device) const {
  return QRectF(row_box(device)).adjusted(names_width(), 6, 0, -2);
}

double MemoryCanvas::y_of(const QRectF& box, std::int64_t bytes) const {
  constexpr double kAir = 1.08;
  return box.bottom() - static_cast<double>(bytes) / (kAir * top_) * box.height();
}

std::optional<MemoryCanvas::Moment> MemoryCanvas::moment_at(QPoint at) const {
  if (!picture_ || !time_area().contains(at)) return std::nullopt;
  const int row = (at.y() - kRulerHeight + verticalScrollBar()->value()) / row_height();
  if (row < 0 || row >= static_cast<int>(picture_->stacks.size())) return std::nullopt;
  return Moment{DeviceId(static_cast<std::size_t>(row)), time_of(at.x())};
}

MemoryCanvas::Moment MemoryCanvas::peak_of(DeviceId device) const {
  const MemoryStack& stack = *picture_->stacks[device()];
  return {device, stack.levels[stack.peak].at};
}

DeviceId MemoryCanvas::fullest() const {
  const auto lower = [](const auto& a, const auto& b) { return a->peak_bytes() < b->peak_bytes(); };
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
    TimeWindow next = window();
    next.reveal(moment->at, moment->at);
    move_window(next);
  }
  viewport()->update();
}

MemoryCanvas::Moment MemoryCanvas::asked() const {
  return selected_ ? *selected_ : peak_of(fullest());
}

void MemoryCanvas::pick(const Moment& moment) {
  select(moment);
  emit picked();
}

void MemoryCanvas::step_by(int by) {
  if (!selected_) return;
  const auto& levels = picture_->stacks[selected_->device()]->levels;
  const auto now = &picture_->stacks[selected_->device()]->level_at(selected_->at) - levels.data();
  const auto next = std::clamp<std::ptrdiff_t>(now + by, 0, std::ssize(levels) - 1);
  pick({selected_->device, levels[static_cast<std::size_t>(next)].at});
}

QString MemoryCanvas::text_at(const Moment& moment) const {
  const MemoryStack& stack = *picture_->stacks[moment.device()];
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
