#pragma once

// What QTest has no call for: a drag. Its moves have no buttons.

#include <QCoreApplication>
#include <QMouseEvent>
#include <QTest>

namespace strata::testing {

inline void drag(QWidget& widget, const QPoint& from, const QPoint& to,
                 Qt::KeyboardModifiers modifiers = {}) {
  QTest::mousePress(&widget, Qt::LeftButton, modifiers, from);
  QMouseEvent move(QEvent::MouseMove, QPointF(to), widget.mapToGlobal(QPointF(to)), Qt::NoButton,
                   Qt::LeftButton, modifiers);
  QCoreApplication::sendEvent(&widget, &move);
  QTest::mouseRelease(&widget, Qt::LeftButton, modifiers, to);
}

}  // namespace strata::testing
