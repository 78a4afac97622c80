// What the mouse and the keys do in a chart of results.

#include <QKeyEvent>
#include <QMouseEvent>
#include <algorithm>

#include "gui/widgets/sweep/result_canvas.h"

namespace strata::gui {
namespace {

constexpr int kClickSlack = 4;  // less than this is no drag

}  // namespace

// In a picture of others, a number of a row is another row's.
std::optional<std::uint32_t> ResultCanvas::row_near(QPointF at) const {
  return newest() ? picture_->row_near(at) : std::nullopt;
}

void ResultCanvas::mousePressEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton) pressed_ = event->position();
}

void ResultCanvas::drag_to(QPointF at) {
  if (!pressed_) return;
  if (dragged_.isEmpty() && (at - *pressed_).manhattanLength() < kClickSlack) return;
  dragged_ = QRectF(*pressed_, at).normalized();
  dragged_.setSize(dragged_.size().expandedTo(QSizeF(1, 1)));  // straight down is a drag too
  update();
}

void ResultCanvas::mouseMoveEvent(QMouseEvent* event) {
  drag_to(event->position());
  if (!dragged_.isEmpty()) return;
  const auto row = row_near(event->position());
  if (row == hovered_) return;
  hovered_ = row;
  setCursor(row ? Qt::PointingHandCursor : Qt::ArrowCursor);
  update();
}

void ResultCanvas::mouseReleaseEvent(QMouseEvent* event) {
  if (!pressed_) return;
  drag_to(event->position());
  pressed_.reset();
  if (dragged_.isEmpty()) return click(event->position());
  const auto brushes = picture_ ? picture_->brushes_in(dragged_) : std::map<std::string, Brush>();
  dragged_ = {};
  update();
  if (!brushes.empty()) results_.set_brushes(brushes);
}

void ResultCanvas::click(QPointF at) {
  if (const auto heading = picture_ ? picture_->heading_at(at) : std::nullopt) {
    return results_.set_brush(*heading, std::nullopt);
  }
  results_.set_current(row_near(at));
}

void ResultCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
  const auto row = row_near(event->position());
  if (event->button() == Qt::LeftButton && row) results_.open(*row);
}

void ResultCanvas::leaveEvent(QEvent*) {
  hovered_.reset();
  update();
}

void ResultCanvas::step(int by) {
  const auto rows = newest() ? picture_->rows_in_order() : std::vector<std::uint32_t>();
  if (rows.empty()) return;
  const auto at =
      results_.current() ? std::find(rows.begin(), rows.end(), *results_.current()) : rows.end();
  const auto count = static_cast<std::ptrdiff_t>(rows.size());
  const std::ptrdiff_t place = at == rows.end() ? (by > 0 ? -1 : count) : at - rows.begin();
  const std::ptrdiff_t next = std::clamp<std::ptrdiff_t>(place + by, 0, count - 1);
  results_.set_current(rows[static_cast<std::size_t>(next)]);
}

void ResultCanvas::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Right:
      return step(1);
    case Qt::Key_Left:
      return step(-1);
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (results_.current()) results_.open(*results_.current());
      return;
    default:
      QWidget::keyPressEvent(event);
  }
}

// What tells the row apart, and what was found.
QString ResultCanvas::tip(std::uint32_t row, const QString& note) const {
  QString text = note;
  for (const ResultColumn& column : results_.all()->columns()) {
    const bool says = column.varies() || column.name == "model" || column.name == "cluster";
    if (!says || !column.has(row)) continue;
    text += QStringLiteral("%1%2: %3")
                .arg(text.isEmpty() ? QString() : QStringLiteral("\n"),
                     QString::fromStdString(plain_name(column)),
                     QString::fromStdString(column.text(row)));
  }
  return text;
}

}  // namespace strata::gui
