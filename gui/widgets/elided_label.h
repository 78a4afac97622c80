#pragma once

// One line of text that is elided where it does not fit, at its end unless said otherwise, and has
// all of it in its tooltip.

#include <QLabel>

namespace strata::gui {

class ElidedLabel : public QLabel {
  Q_OBJECT

 public:
  using QLabel::QLabel;
  QSize minimumSizeHint() const override { return {0, QLabel::minimumSizeHint().height()}; }
  QSize sizeHint() const override { return {wanted_, QLabel::sizeHint().height()}; }
  /// As wide as this where there is room, whatever the text.
  void set_wanted_width(int width) { wanted_ = width; }
  void set_elided(Qt::TextElideMode where) { elided_ = where; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  int wanted_ = 120;
  Qt::TextElideMode elided_ = Qt::ElideRight;
};

}  // namespace strata::gui
