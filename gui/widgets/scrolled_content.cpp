#include "gui/widgets/scrolled_content.h"

#include <QLayout>
#include <QStyle>
#include <algorithm>

namespace strata::gui {

// Not resizable by Qt's rules: those ask for the height that the content would like to have.
ScrolledContent::ScrolledContent(QWidget* content, QWidget* parent) : QScrollArea(parent) {
  setFrameShape(QFrame::NoFrame);
  setFocusPolicy(Qt::NoFocus);
  setWidget(content);
}

// What lies in it has another size hint, or was shown or hidden.
bool ScrolledContent::event(QEvent* event) {
  const bool handled = QScrollArea::event(event);
  if (event->type() == QEvent::LayoutRequest) fit();
  return handled;
}

void ScrolledContent::resizeEvent(QResizeEvent* event) {
  QScrollArea::resizeEvent(event);
  fit();
}

QSize ScrolledContent::least(int width) const {
  const QSize least = widget()->minimumSizeHint().expandedTo(widget()->minimumSize());
  const QLayout* const layout = widget()->layout();
  if (layout == nullptr || !layout->hasHeightForWidth()) return least;
  const int height = layout->minimumHeightForWidth(std::max(width, least.width()));
  return {least.width(), std::max(least.height(), height)};
}

// A bar in one direction takes room in the other.
void ScrolledContent::fit() {
  QSize room = maximumViewportSize();
  const QSize all = room;
  const int bar = style()->pixelMetric(QStyle::PM_ScrollBarExtent, nullptr, this);
  const bool low = least(all.width()).height() > all.height();
  if (low) room.rwidth() -= bar;
  const bool narrow = least(room.width()).width() > room.width();
  if (narrow) room.rheight() -= bar;
  if (!low && least(room.width()).height() > room.height()) room.rwidth() -= bar;
  widget()->resize(room.expandedTo(least(room.width())));
}

}  // namespace strata::gui
