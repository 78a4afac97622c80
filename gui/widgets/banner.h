#pragma once

// A message over a part of a window, until it is dismissed or another takes its place. It covers
// what lies beneath, and moves nothing.

#include <QFrame>
#include <QLabel>

namespace strata::gui {

class Banner : public QFrame {
  Q_OBJECT

 public:
  /// At this edge of the widget that it is over, its parent, as wide as that.
  Banner(QWidget* over, Qt::Edge edge);

  /// Nothing is shown where it is empty.
  void show_text(const QString& text);
  QString text() const { return text_->text(); }
  /// Pixels of the parent above it, where it is at the top.
  void set_margin(int pixels);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void place();

  Qt::Edge edge_;
  int margin_ = 0;
  QLabel* text_;
};

}  // namespace strata::gui
