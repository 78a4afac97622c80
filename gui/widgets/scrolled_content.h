#pragma once

// Room for a view's content: it fills what there is, and scrolls where there is less than it needs
// at least, so that no view keeps the window from being made smaller. Keys and the wheel stay the
// content's own.

#include <QKeyEvent>
#include <QScrollArea>
#include <QWheelEvent>

namespace strata::gui {

class ScrolledContent : public QScrollArea {
  Q_OBJECT

 public:
  explicit ScrolledContent(QWidget* content, QWidget* parent = nullptr);

  QSize minimumSizeHint() const override { return {40, 100}; }
  QSize sizeHint() const override { return widget()->sizeHint(); }

 protected:
  bool event(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override { event->ignore(); }
  void wheelEvent(QWheelEvent* event) override { event->ignore(); }

 private:
  QSize least(int width) const;
  void fit();
};

}  // namespace strata::gui
