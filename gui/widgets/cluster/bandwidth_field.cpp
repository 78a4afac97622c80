#include "gui/widgets/cluster/bandwidth_field.h"

#include <QFocusEvent>
#include <QKeyEvent>
#include <QShortcut>
#include <algorithm>

namespace strata::gui {

BandwidthField::BandwidthField(QWidget* drawing) : QLineEdit(drawing) {
  hide();
  setPlaceholderText(tr("25 GB/s or 2x"));
  setAccessibleName(tr("Bandwidth of the link"));
  const auto* escape = new QShortcut(Qt::Key_Escape, this, nullptr, nullptr, Qt::WidgetShortcut);
  connect(escape, &QShortcut::activated, this, &BandwidthField::close);
}

void BandwidthField::open(const QString& text, const QPoint& middle) {
  setText(text);
  adjustSize();
  const QSize room = parentWidget()->size() - size();
  move(std::clamp(middle.x() - width() / 2, 0, std::max(0, room.width())),
       std::clamp(middle.y() - height() / 2, 0, std::max(0, room.height())));
  show();
  setFocus();
  selectAll();
}

void BandwidthField::close() {
  parentWidget()->setFocus();
  hide();
}

// A line edit leaves Enter to what it stands on, which would open it again.
void BandwidthField::keyPressEvent(QKeyEvent* event) {
  QLineEdit::keyPressEvent(event);
  event->accept();
}

void BandwidthField::focusOutEvent(QFocusEvent* event) {
  QLineEdit::focusOutEvent(event);
  if (event->reason() != Qt::PopupFocusReason && event->reason() != Qt::ActiveWindowFocusReason) {
    hide();
  }
}

}  // namespace strata::gui
