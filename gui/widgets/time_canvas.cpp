#include "gui/widgets/time_canvas.h"

#include <QApplication>
#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "gui/widgets/navigation.h"
#include "gui/widgets/time_ruler.h"

namespace strata::gui {

TimeCanvas::TimeCanvas(QWidget* parent) : QAbstractScrollArea(parent) {
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setFocusPolicy(Qt::StrongFocus);
  viewport()->setMouseTracking(true);
  viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
  show_tips(viewport(), [this](QPoint at) { return tip_at(at); });
  theme_ = theme_of(palette());
}

void TimeCanvas::set_hint(const QString& hint) {
  hint_ = hint;
  viewport()->update();
}

void TimeCanvas::set_range(std::optional<TimeRange> range) {
  range_ = range;
  viewport()->update();
}

void TimeCanvas::set_window(const TimeWindow& window) {
  window_ = window;
  viewport()->update();
}

void TimeCanvas::move_window(const TimeWindow& window) {
  if (window == window_) return;
  window_ = window;
  viewport()->update();
  emit window_changed();
}

TimeWindow TimeCanvas::window_on(const TimeRange& shown) const {
  TimeWindow window = window_;
  window.show(shown.begin.value, shown.end.value);
  return window;
}

TimeWindow TimeCanvas::step_window() const {
  constexpr double kAir = 0.03;
  if (const std::optional<TimeRange> one = step()) {
    const Seconds air = kAir * one->length();
    return window_on({one->begin - air, one->end + air});
  }
  TimeWindow all = window_;
  all.show_all();
  return all;
}

void TimeCanvas::show_all_of(double first, double limit, bool follows) {
  window_.set_limits(first, limit);
  if (follows) window_ = step_window();
}

void TimeCanvas::fit() {
  const bool measured = range_ && range_->length() > Seconds{0};
  const std::optional<TimeRange> wanted = measured ? range_ : selected_time();
  std::vector<TimeWindow> stops;
  if (wanted) stops.push_back(window_on(*wanted));
  stops.push_back(step_window());
  TimeWindow all = window_;
  all.show_all();
  if (all != stops.back()) stops.push_back(all);
  const auto now = std::find(stops.begin(), stops.end(), window_) - stops.begin();
  // What opens is the step: from there the first stop is what is wanted, unless that led here.
  const bool came_by = fitted_ == Fitted{window_, wanted};
  const bool first = now == std::ssize(stops) || (now > 0 && !came_by);
  const std::size_t next = first ? 0 : (static_cast<std::size_t>(now) + 1) % stops.size();
  fitted_ = Fitted{stops[next], wanted};
  move_window(stops[next]);
}

int TimeCanvas::names_width() const {
  return gui::names_width(wanted_names_, viewport()->width());
}

QRect TimeCanvas::time_area() const {
  return viewport()->rect().adjusted(names_width(), kRulerHeight, 0, 0);
}

double TimeCanvas::time_of(int x) const {
  return window_.to_time(x - names_width(), std::max(time_area().width(), 1));
}

double TimeCanvas::x_of(double time) const {
  return names_width() + window_.to_x(time, std::max(time_area().width(), 1));
}

void TimeCanvas::set_scrolled(int height, int above, int single_step) {
  const int room = viewport()->height() - kRulerHeight - above;
  verticalScrollBar()->setRange(0, std::max(0, height - room));
  verticalScrollBar()->setPageStep(std::max(room, 1));
  verticalScrollBar()->setSingleStep(single_step);
  viewport()->update();
}

double TimeCanvas::zoom_centre() const {
  return mouse_x_ ? time_of(*mouse_x_) : (window_.begin() + window_.end()) / 2;
}

QString TimeCanvas::tip_at(QPoint at) const {
  const bool in_ruler = at.y() < time_area().top() && at.x() >= time_area().left();
  const std::optional<TimeRange> measured_by = is_empty() ? std::nullopt : steady();
  if (!in_ruler || !measured_by) return {};
  const Seconds time{time_of(at.x())};
  if (time < measured_by->begin || time > measured_by->end) return {};
  return tr(
      "The steady state: from the end of one step to that of a later one. The time of a step "
      "and the shares on the critical path are taken here.");
}

void TimeCanvas::resizeEvent(QResizeEvent*) {
  lay_out();
}

void TimeCanvas::changeEvent(QEvent* event) {
  QAbstractScrollArea::changeEvent(event);
  if (event->type() != QEvent::PaletteChange && event->type() != QEvent::FontChange) return;
  theme_ = theme_of(palette());
  restyle();
  lay_out();
}

bool TimeCanvas::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::Leave) {
    mouse_x_.reset();
    viewport()->update();
    hover(std::nullopt);
  }
  return QAbstractScrollArea::viewportEvent(event);
}

// Keys are for what is moved then, too.
void TimeCanvas::wheelEvent(QWheelEvent* event) {
  setFocus(Qt::MouseFocusReason);
  mouse_x_ = static_cast<int>(event->position().x());
  TimeWindow next = window_;
  const bool on_ruler = event->position().y() < kRulerHeight;
  take_wheel(next, *event, time_of(*mouse_x_), time_area().width(),
             on_ruler ? nullptr : verticalScrollBar());
  move_window(next);
  event->accept();
}

void TimeCanvas::mousePressEvent(QMouseEvent* event) {
  if (is_empty() || drag_ != Drag::none) return;
  button_ = event->button();
  pressed_ = event->position().toPoint();
  window_at_press_ = window_;
  scrolled_at_press_ = verticalScrollBar()->value();
  const std::optional<double> other = end_opposite(pressed_.x());
  measured_from_ = other.value_or(time_of(pressed_.x()));
  const bool pans = button_ == Qt::MiddleButton || (event->modifiers() & Qt::ShiftModifier) != 0;
  drag_ = pans ? Drag::pan : Drag::press;
}

// As a line can be hit.
std::optional<double> TimeCanvas::end_opposite(int x) const {
  constexpr double kNear = 4;  // pixels
  if (!range_ || x < time_area().left()) return std::nullopt;
  const double begin = range_->begin.value, end = range_->end.value;
  if (std::abs(x - x_of(end)) <= kNear) return begin;
  if (std::abs(x - x_of(begin)) <= kNear) return end;
  return std::nullopt;
}

void TimeCanvas::mouseMoveEvent(QMouseEvent* event) {
  const QPoint at = event->position().toPoint();
  mouse_x_ = at.x();
  const bool moved = (at - pressed_).manhattanLength() >= QApplication::startDragDistance() / 2;
  if (drag_ == Drag::press && moved) {
    const bool in_time = pressed_.x() >= time_area().left();
    if (button_ == Qt::RightButton) drag_ = Drag::pan;
    if (button_ == Qt::LeftButton && in_time) drag_ = Drag::range;
  }
  if (drag_ == Drag::range) {
    measure_to(at.x());
  } else if (drag_ == Drag::pan) {
    TimeWindow next = window_at_press_;
    next.pan(static_cast<double>(pressed_.x() - at.x()) / std::max(time_area().width(), 1));
    move_window(next);
    verticalScrollBar()->setValue(scrolled_at_press_ + pressed_.y() - at.y());
  } else if (drag_ == Drag::none) {
    hover(at);
    viewport()->setCursor(end_opposite(at.x()) ? Qt::SplitHCursor : Qt::ArrowCursor);
  }
  viewport()->update();
}

void TimeCanvas::measure_to(int x) {
  const double a = std::clamp(measured_from_, window_.first(), window_.limit());
  const double b = std::clamp(time_of(x), window_.first(), window_.limit());
  set_range(TimeRange{{std::min(a, b)}, {std::max(a, b)}});
  emit range_picked();
}

void TimeCanvas::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != button_) return;
  if (std::exchange(drag_, Drag::none) != Drag::press) return;
  button_ == Qt::RightButton ? ask_menu(pressed_) : click(pressed_);
}

// The mouse asks where it is let go: until then it may move the time.
void TimeCanvas::contextMenuEvent(QContextMenuEvent* event) {
  if (!is_empty() && event->reason() == QContextMenuEvent::Keyboard) ask_menu(std::nullopt);
}

void TimeCanvas::keyPressEvent(QKeyEvent* event) {
  const bool modified =
      (event->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)) != 0;
  if (is_empty() || modified || !take_any_key(event->key(), event->modifiers())) {
    QAbstractScrollArea::keyPressEvent(event);
  }
}

bool TimeCanvas::take_any_key(int key, Qt::KeyboardModifiers modifiers) {
  if (take_own_key(key, modifiers)) return true;
  if (key == Qt::Key_F) return fit(), true;
  if (key == Qt::Key_Escape) {
    set_range(std::nullopt);
    emit range_picked();
    return select_nothing(), true;
  }
  TimeWindow next = window_;
  if (!take_key(next, key, zoom_centre())) return false;
  return move_window(next), true;
}

void TimeCanvas::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  paint(painter);
}

void TimeCanvas::paint(QPainter& painter) {
  painter.fillRect(viewport()->rect(), theme_.background);
  painter.setFont(font());
  if (is_empty()) {
    painter.setPen(theme_.faint);
    painter.drawText(viewport()->rect().adjusted(24, 24, -24, -24),
                     Qt::AlignCenter | Qt::TextWordWrap, hint_);
    return;
  }
  paint_ground(painter);
  paint_time_grid(painter, time_area(), window_, theme_);
  paint_rows(painter);
  paint_range(painter);
  paint_above(painter);
  paint_ruler(painter);
}

void TimeCanvas::paint_range(QPainter& painter) {
  painter.save();
  painter.setClipRect(time_area());
  if (range_) {
    // Within the picture: far beyond it there are no pixels.
    const double left = std::max<double>(x_of(range_->begin.value), time_area().left() - 2);
    const double right = std::min<double>(x_of(range_->end.value), time_area().right() + 2);
    const QRectF band(left, time_area().top(), std::max(0.0, right - left), time_area().height());
    painter.fillRect(band, see_through(theme_.accent, 0.16));
    painter.fillRect(QRectF(left, band.top(), 1, band.height()), theme_.accent);
    painter.fillRect(QRectF(right, band.top(), 1, band.height()), theme_.accent);
  }
  if (mouse_x_ && *mouse_x_ >= time_area().left()) {
    painter.fillRect(QRect(*mouse_x_, time_area().top(), 1, time_area().height()),
                     see_through(theme_.text, 0.3));
  }
  painter.restore();
}

void TimeCanvas::paint_ruler(QPainter& painter) {
  const QRect all(0, 0, viewport()->width(), kRulerHeight);
  painter.fillRect(all, palette().color(QPalette::Window));
  paint_time_ruler(painter, all.adjusted(names_width(), 0, 0, 0), window_, {steady(), range_},
                   palette());
  painter.fillRect(QRect(0, all.bottom(), viewport()->width(), 1), theme_.grid);
}

}  // namespace strata::gui
