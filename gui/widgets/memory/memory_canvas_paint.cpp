// How the memory of devices is painted.

#include <QPainter>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "gui/models/text.h"
#include "gui/models/timeline/plan_recording.h"
#include "gui/widgets/memory/memory_canvas.h"

namespace strata::gui {
namespace {

QColor half_clear(QColor colour, double share) {
  colour.setAlphaF(static_cast<float>(share));
  return colour;
}

}  // namespace

void MemoryCanvas::paint(QPainter& painter) {
  painter.fillRect(viewport()->rect(), theme_.background);
  painter.setFont(font());
  if (!picture_) {
    painter.setPen(theme_.faint);
    painter.drawText(viewport()->rect().adjusted(24, 24, -24, -24),
                     Qt::AlignCenter | Qt::TextWordWrap, hint_);
    return;
  }
  const int height = row_height();
  const auto first = static_cast<std::size_t>(verticalScrollBar()->value() / height);
  for (std::size_t i = first; i < picture_->stacks.size(); ++i) {
    if (row_box(i).top() >= viewport()->height()) break;
    paint_device(painter, i);
  }
  paint_marks(painter);
  paint_ruler(painter);
  paint_legend(painter);
}

void MemoryCanvas::paint_device(QPainter& painter, std::size_t device) {
  const MemoryStack& stack = picture_->stacks[device];
  painter.save();
  painter.setClipRect(time_area().intersected(row_box(device)));
  paint_stack(painter, stack, stack_box(device));
  paint_capacity(painter, stack, stack_box(device));
  painter.restore();
  paint_name(painter, device);
  painter.fillRect(QRect(0, row_box(device).bottom(), viewport()->width(), 1), theme_.grid);
}

// From the whole downwards: what lies lower covers it. A column shows its highest moment.
void MemoryCanvas::paint_stack(QPainter& painter, const MemoryStack& stack, const QRectF& box) {
  const auto columns = static_cast<int>(box.width());
  std::vector<const MemoryStack::Level*> levels;
  for (int x = 0; x < columns; ++x) {
    const double begin = window_.to_time(x, box.width()), end = window_.to_time(x + 1, box.width());
    levels.push_back(&stack.highest(begin, end));
  }
  for (std::size_t kinds = kMemoryUseKinds; kinds > 0; --kinds) {
    QPolygonF outline;
    outline << box.bottomLeft();
    for (int x = 0; x < columns; ++x) {
      const auto& bytes = levels[static_cast<std::size_t>(x)]->bytes;
      std::int64_t sum = 0;
      for (std::size_t kind = 0; kind < kinds; ++kind) sum += bytes[kind];
      const double y = y_of(box, stack, sum);
      outline << QPointF(box.left() + x, y) << QPointF(box.left() + x + 1, y);
    }
    outline << QPointF(box.left() + columns, box.bottom());
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour_of(static_cast<MemoryUseKind>(kinds - 1), theme_));
    painter.drawPolygon(outline);
  }
}

void MemoryCanvas::paint_capacity(QPainter& painter, const MemoryStack& stack, const QRectF& box) {
  const double y = y_of(box, stack, stack.capacity.value);
  if (y < box.top()) return;
  const bool fits = stack.peak_bytes() <= stack.capacity;
  const QColor colour = fits ? theme_.text : theme_.bad;
  if (!fits) {
    painter.fillRect(QRectF(box.topLeft(), QPointF(box.right(), y)), half_clear(theme_.bad, 0.12));
  }
  painter.setPen(QPen(colour, 1, Qt::DashLine));
  painter.drawLine(QPointF(box.left(), y), QPointF(box.right(), y));
  const QString text = fits ? tr("capacity %1").arg(human_bytes(stack.capacity))
                            : tr("does not fit into %1").arg(human_bytes(stack.capacity));
  const double text_y = std::min(y + 1, box.bottom() - fontMetrics().height());
  const QRectF label(box.right() - fontMetrics().horizontalAdvance(text) - 14, text_y,
                     fontMetrics().horizontalAdvance(text) + 8, fontMetrics().height());
  painter.fillRect(label, half_clear(theme_.background, 0.8));
  painter.drawText(label, Qt::AlignCenter, text);
}

void MemoryCanvas::paint_name(QPainter& painter, std::size_t device) {
  const QRect row = row_box(device);
  const QRect side(0, row.top(), time_area().left(), row.height());
  const bool selected = selected_ && selected_->device() == device;
  painter.fillRect(side, palette().color(QPalette::Window));
  if (selected) painter.fillRect(QRect(0, row.top(), 3, row.height()), theme_.accent);
  painter.fillRect(QRect(side.right(), side.top(), 1, side.height()), theme_.grid);
  const MemoryStack& stack = picture_->stacks[device];
  const double share = static_cast<double>(stack.peak_bytes().value) /
                       static_cast<double>(std::max<std::int64_t>(stack.capacity.value, 1));
  const QString name =
      QString::fromStdString(device_label(picture_->scene->input.cluster, DeviceId(device)));
  const int line = fontMetrics().height() + 2;
  const QRect text(10, row.top() + 8, side.width() - 20, line);
  painter.setPen(theme_.text);
  painter.drawText(text, Qt::AlignLeft,
                   fontMetrics().elidedText(name, Qt::ElideMiddle, text.width()));
  painter.setPen(share > 1 ? theme_.bad : theme_.text);
  painter.drawText(text.translated(0, line), Qt::AlignLeft,
                   tr("peak %1").arg(human_bytes(stack.peak_bytes())));
  painter.setPen(share > 1 ? theme_.bad : theme_.faint);
  painter.drawText(text.translated(0, 2 * line), Qt::AlignLeft,
                   tr("%1 of %2").arg(human_share(share), human_bytes(stack.capacity)));
}

void MemoryCanvas::paint_ruler(QPainter& painter) {
  const QRect box(0, kLegend, viewport()->width(), time_area().top() - kLegend);
  painter.fillRect(box, palette().color(QPalette::Window));
  painter.save();
  painter.setClipRect(box.adjusted(time_area().left(), 0, 0, 0));
  for (const TimeTick& tick : time_ticks(window_, time_area().width() / 110)) {
    const double x = x_of(tick.at);
    painter.fillRect(QRectF(x, box.bottom() - 5, 1, 5), theme_.faint);
    painter.setPen(theme_.faint);
    painter.drawText(QRectF(x + 4, box.top(), 106, box.height() - 2),
                     Qt::AlignLeft | Qt::AlignVCenter, QString::fromStdString(tick.label));
  }
  painter.restore();
  painter.fillRect(QRect(0, box.bottom(), viewport()->width(), 1), theme_.grid);
}

void MemoryCanvas::paint_legend(QPainter& painter) {
  const QRect box(0, 0, viewport()->width(), kLegend);
  painter.fillRect(box, palette().color(QPalette::Window));
  int x = 10;
  for (std::size_t i = 0; i < kMemoryUseKinds; ++i) {
    const auto kind = static_cast<MemoryUseKind>(i);
    const QString text = QString::fromStdString(std::string(name(kind)));
    painter.fillRect(QRect(x, box.center().y() - 5, 11, 11), colour_of(kind, theme_));
    painter.setPen(theme_.text);
    const int width = fontMetrics().horizontalAdvance(text);
    painter.drawText(QRect(x + 16, 0, width + 4, box.height()), Qt::AlignLeft | Qt::AlignVCenter,
                     text);
    x += width + 34;
  }
}

void MemoryCanvas::paint_marks(QPainter& painter) {
  painter.save();
  painter.setClipRect(time_area());
  if (range_) {
    const double left = x_of(range_->begin.value), right = x_of(range_->end.value);
    painter.fillRect(QRectF(left, time_area().top(), right - left, time_area().height()),
                     half_clear(theme_.accent, 0.14));
  }
  for (std::size_t i = 0; i < picture_->stacks.size(); ++i) {
    const QRectF box = stack_box(i);
    if (box.bottom() < 0 || box.top() > viewport()->height()) continue;
    const MemoryStack& stack = picture_->stacks[i];
    const QPointF peak(x_of(stack.levels[stack.peak].at),
                       y_of(box, stack, stack.peak_bytes().value));
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(theme_.background, 1));
    painter.setBrush(theme_.text);
    painter.drawPolygon(QPolygonF({peak, peak + QPointF(-5, -8), peak + QPointF(5, -8)}));
    painter.setRenderHint(QPainter::Antialiasing, false);
  }
  if (selected_) {
    const QRectF box = stack_box(selected_->device());
    painter.fillRect(QRectF(x_of(selected_->at) - 1, box.top(), 2, box.height()), theme_.accent);
  }
  painter.restore();
}

}  // namespace strata::gui
