#pragma once

// A message at the foot of a window or a view, until it is dismissed or another takes its place. It
// covers what lies beneath, and moves nothing.

#include <QFrame>
#include <QLabel>
#include <functional>

namespace strata::gui {

class Banner : public QFrame {
  Q_OBJECT

 public:
  /// Over this widget, its parent, and as wide as that.
  explicit Banner(QWidget* over);

  /// Nothing is shown where it is empty.
  void show_text(const QString& text);
  QString text() const { return text_->text(); }
  /// Above so many pixels at the foot of the parent, which stay in view: asked for whenever it is
  /// placed.
  void stand_on(std::function<int()> foot);
  /// Anew, where what it stands on is another.
  void place();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QLabel* text_;
  std::function<int()> foot_;
};

}  // namespace strata::gui
