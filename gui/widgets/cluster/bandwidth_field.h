#pragma once

// The field in which a link's bandwidth is written, where the link is drawn. Enter gives what is
// written, and it stays open until it is closed, so that what is wrong can be mended; Escape, or
// the focus elsewhere, closes it and leaves all as it was. No key goes on to the drawing beneath.

#include <QLineEdit>

namespace strata::gui {

class BandwidthField : public QLineEdit {
  Q_OBJECT

 public:
  explicit BandwidthField(QWidget* drawing);

  /// About that point of the drawing, as near as the field is whole.
  void open(const QString& text, const QPoint& middle);
  /// The drawing has the focus again.
  void close();

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
};

}  // namespace strata::gui
