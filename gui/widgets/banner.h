#pragma once

// A message at the foot of a window or a view, until it is dismissed or another takes its place. It
// covers what lies beneath, and moves nothing.

#include <QFrame>
#include <QLabel>

namespace strata::gui {

class Banner : public QFrame {
  Q_OBJECT

 public:
  /// Over this widget, its parent, and as wide as that.
  explicit Banner(QWidget* over);

  /// Nothing is shown where it is empty.
  void show_text(const QString& text);
  QString text() const { return text_->text(); }
  /// Above a line at the foot of the parent, which stays in view.
  void stand_on(const QWidget* line);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void place();

  QLabel* text_;
  const QWidget* line_ = nullptr;
};

}  // namespace strata::gui
