#pragma once

// What QTest has no call for: drags, whose moves have buttons, and what the right button offers.

#include <QApplication>
#include <QContextMenuEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QTest>

namespace strata::testing {

inline void drag(QWidget& widget, const QPoint& from, const QPoint& to,
                 Qt::KeyboardModifiers modifiers = {}, Qt::MouseButton button = Qt::LeftButton) {
  QTest::mousePress(&widget, button, modifiers, from);
  QMouseEvent move(QEvent::MouseMove, QPointF(to), widget.mapToGlobal(QPointF(to)), Qt::NoButton,
                   button, modifiers);
  QCoreApplication::sendEvent(&widget, &move);
  QTest::mouseRelease(&widget, button, modifiers, to);
}

/// The menu that the right button opens there; null where it opens none.
inline QMenu* open_menu(QWidget& widget, const QPoint& at) {
  QContextMenuEvent asked(QContextMenuEvent::Mouse, at, widget.mapToGlobal(at));
  QCoreApplication::sendEvent(&widget, &asked);
  return qobject_cast<QMenu*>(QApplication::activePopupWidget());
}

/// The action of a menu, or of one in it, whose text begins so; null where none does.
inline QAction* action_of(const QMenu* menu, const QString& text) {
  if (menu == nullptr) return nullptr;
  for (QAction* action : menu->actions()) {
    if (action->text().startsWith(text)) return action;
    if (QAction* inner = action->menu() != nullptr ? action_of(action->menu(), text) : nullptr) {
      return inner;
    }
  }
  return nullptr;
}

/// Whether the menu there has the action, which it then does.
inline bool choose(QWidget& widget, const QPoint& at, const QString& text) {
  QMenu* menu = open_menu(widget, at);
  QAction* action = action_of(menu, text);
  const bool can = action != nullptr && action->isEnabled();
  if (can) action->trigger();
  if (menu != nullptr) menu->close();
  return can;
}

}  // namespace strata::testing
