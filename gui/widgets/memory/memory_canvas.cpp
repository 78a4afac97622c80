#include "gui/widgets/memory/memory_canvas.h"

#include <QPainter>
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

// What keys and mouse do to the memory's picture.

QString MemoryCanvas::tip_at(QPoint at) const {
  const auto moment = moment_at(at);
  return moment ? text_at(*moment) : TimeCanvas::tip_at(at);
}

// Close to a peak the peak is meant.
void MemoryCanvas::click(QPoint at) {
  const auto moment = moment_at(at);
  if (!moment) return;
  constexpr int kNear = 5;
  const Moment peak = peak_of(moment->device);
  pick(std::abs(x_of(peak.at) - at.x()) <= kNear ? peak : *moment);
}

bool MemoryCanvas::take_own_key(int key, Qt::KeyboardModifiers /*modifiers*/) {
  const auto [device, at] = asked();
  const auto last = static_cast<int>(picture_->stacks.size()) - 1;
  const auto other = [last, of = static_cast<int>(device())](int by) {
    return DeviceId(static_cast<std::size_t>(std::clamp(of + by, 0, last)));
  };
  switch (key) {
    case Qt::Key_C:
      set_scale(scale() == MemoryScale::peak ? MemoryScale::capacity : MemoryScale::peak);
      return true;
    case Qt::Key_P:
      return pick(peak_of(device)), true;
    case Qt::Key_Up:
      return pick({other(-1), at}), true;
    case Qt::Key_Down:
      return pick({other(1), at}), true;
    case Qt::Key_Period:
      return step_by(1), true;
    case Qt::Key_Comma:
      return step_by(-1), true;
    default:
      return false;
  }
}

// How the memory of devices is painted.

void MemoryCanvas::paint_rows(QPainter& painter) {
  const auto first = static_cast<std::size_t>(verticalScrollBar()->value() / row_height());
  for (std::size_t i = first; i < picture_->stacks.size(); ++i) {
    if (row_box(i).top() >= viewport()->height()) break;
    paint_device(painter, i);
  }
}

void MemoryCanvas::paint_device(QPainter& painter, std::size_t device) {
  const MemoryStack& stack = *picture_->stacks[device];
  const QRectF box = stack_box(device);
  painter.save();
  painter.setClipRect(time_area().intersected(row_box(device)));
  paint_stack(painter, stack, box);
  paint_capacity(painter, stack, box);
  paint_peak(painter, device);
  if (selected_ && selected_->device() == device) {
    painter.fillRect(QRectF(x_of(selected_->at) - 1, box.top(), 2, box.height()), theme().accent);
  }
  painter.restore();
  paint_name(painter, device);
  paint_levels(painter, device);
  painter.fillRect(QRect(0, row_box(device).bottom(), viewport()->width(), 1), theme().grid);
}

// From the whole downwards: what lies lower covers it. A column shows its highest moment.
void MemoryCanvas::paint_stack(QPainter& painter, const MemoryStack& stack, const QRectF& box) {
  const auto columns = static_cast<int>(box.width());
  std::vector<const MemoryStack::Level*> levels;
  for (int x = 0; x < columns; ++x) {
    const double begin = window().to_time(x, box.width()),
                 end = window().to_time(x + 1, box.width());
    levels.push_back(&stack.highest(begin, end));
  }
  for (std::size_t kinds = kMemoryUseKinds; kinds > 0; --kinds) {
    QPolygonF outline;
    outline << box.bottomLeft();
    for (int x = 0; x < columns; ++x) {
      const auto& bytes = levels[static_cast<std::size_t>(x)]->bytes;
      std::int64_t sum = 0;
      for (std::size_t kind = 0; kind < kinds; ++kind) sum += bytes[kind];
      const double y = y_of(box, sum);
      outline << QPointF(box.left() + x, y) << QPointF(box.left() + x + 1, y);
    }
    outline << QPointF(box.left() + columns, box.bottom());
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour_of(static_cast<MemoryUseKind>(kinds - 1), theme()));
    painter.drawPolygon(outline);
  }
}

void MemoryCanvas::paint_capacity(QPainter& painter, const MemoryStack& stack, const QRectF& box) {
  const double y = y_of(box, stack.capacity.value);
  if (y < box.top()) return;
  const bool fits = stack.peak_bytes() <= stack.capacity;
  const QColor colour = fits ? theme().text : theme().bad;
  if (!fits) {
    painter.fillRect(QRectF(box.topLeft(), QPointF(box.right(), y)),
                     see_through(theme().bad, 0.12));
  }
  painter.setPen(QPen(colour, 1, Qt::DashLine));
  painter.drawLine(QPointF(box.left(), y), QPointF(box.right(), y));
  const QString text = fits ? tr("capacity %1").arg(human_bytes(stack.capacity))
                            : tr("does not fit into %1").arg(human_bytes(stack.capacity));
  const double text_y = std::min(y + 1, box.bottom() - fontMetrics().height());
  const QRectF label(box.right() - fontMetrics().horizontalAdvance(text) - 14, text_y,
                     fontMetrics().horizontalAdvance(text) + 8, fontMetrics().height());
  painter.fillRect(label, see_through(theme().background, 0.8));
  painter.drawText(label, Qt::AlignCenter, text);
}

// At the right end of the names: how high the picture is.
void MemoryCanvas::paint_levels(QPainter& painter, std::size_t device) {
  constexpr int kRoomFor = 180;
  const QRectF box = stack_box(device);
  if (names_width() < kRoomFor) return;
  const int line = fontMetrics().height();
  const auto most = static_cast<int>(box.height()) / (2 * line);
  painter.save();
  painter.setClipRect(time_area().adjusted(-names_width(), 0, 0, 0));
  for (const std::int64_t bytes : byte_ticks(picture_->top(scale()), std::max(most, 1))) {
    const double y = y_of(box, bytes);
    painter.fillRect(QRectF(names_width() - 5, y, 5, 1), theme().faint);
    painter.fillRect(QRectF(names_width(), y, time_area().width(), 1),
                     see_through(theme().text, 0.12));
    painter.setPen(theme().faint);
    painter.drawText(QRectF(names_width() - 90, y - line / 2.0, 82, line),
                     Qt::AlignRight | Qt::AlignVCenter,
                     human_bytes({bytes}).remove(QLatin1String(".00")));
  }
  painter.restore();
}

void MemoryCanvas::paint_name(QPainter& painter, std::size_t device) {
  const QRect row = row_box(device);
  const QRect side(0, row.top(), names_width(), row.height());
  painter.fillRect(side, palette().color(QPalette::Window));
  if (selected_ && selected_->device() == device) {
    painter.fillRect(QRect(0, row.top(), 3, row.height()), theme().accent);
  }
  painter.fillRect(QRect(side.right(), side.top(), 1, side.height()), theme().grid);
  const MemoryStack& stack = *picture_->stacks[device];
  const double share = static_cast<double>(stack.peak_bytes().value) /
                       static_cast<double>(std::max<std::int64_t>(stack.capacity.value, 1));
  const QString name =
      QString::fromStdString(device_label(picture_->scene->input.cluster, DeviceId(device)));
  const int line = fontMetrics().height() + 2;
  QRect text(10, row.top() + 8, std::min(side.width() - 16, 132), line);
  const auto add = [&](const QColor& colour, const QString& what) {
    painter.setPen(colour);
    painter.drawText(text, Qt::AlignLeft,
                     fontMetrics().elidedText(what, Qt::ElideMiddle, text.width()));
    text.translate(0, line);
  };
  add(theme().text, name);
  add(share > 1 ? theme().bad : theme().text, tr("peak %1").arg(human_bytes(stack.peak_bytes())));
  paint_meter(painter, QRect(text.left(), text.top() + 2, text.width() - 10, 4), share);
  text.translate(0, 8);
  const QString of = tr("%1 of %2").arg(human_share(share), human_bytes(stack.capacity));
  const bool fits = fontMetrics().horizontalAdvance(of) <= text.width();
  add(share > 1 ? theme().bad : theme().faint, fits ? of : human_share(share));
}

// How full it gets, whatever the scale.
void MemoryCanvas::paint_meter(QPainter& painter, const QRect& box, double share) {
  painter.fillRect(box, see_through(theme().text, 0.15));
  const auto filled = static_cast<int>(std::lround(box.width() * std::min(share, 1.0)));
  painter.fillRect(QRect(box.topLeft(), QSize(filled, box.height())),
                   share > 1 ? theme().bad : theme().accent);
}

void MemoryCanvas::paint_peak(QPainter& painter, std::size_t device) {
  const MemoryStack& stack = *picture_->stacks[device];
  const QPointF peak(x_of(stack.levels[stack.peak].at),
                     y_of(stack_box(device), stack.peak_bytes().value));
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme().background, 1));
  painter.setBrush(theme().text);
  painter.drawPolygon(QPolygonF({peak, peak + QPointF(-5, -8), peak + QPointF(5, -8)}));
  painter.setRenderHint(QPainter::Antialiasing, false);
}

}  // namespace strata::gui
