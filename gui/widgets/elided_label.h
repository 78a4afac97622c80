#pragma once

// One line of text that is elided where it does not fit, at its end unless said otherwise, and has
// all of it in its tooltip; or facts in several lines, of which only the last is elided.

#include <QLabel>
#include <QStringList>

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
  /// As high as these, whatever the text. It is broken where between() stands.
  void set_lines(int lines);
  static QString between() { return QStringLiteral("   ·   "); }

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  QStringList lines() const;

  int wanted_ = 120, most_lines_ = 1;
  Qt::TextElideMode elided_ = Qt::ElideRight;
};

}  // namespace strata::gui
