#pragma once

// What the colours of predicted and measured tasks mean.

#include <QWidget>

namespace strata::gui {

class ErrorScale : public QWidget {
 public:
  explicit ErrorScale(QWidget* parent = nullptr);

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;
};

}  // namespace strata::gui
