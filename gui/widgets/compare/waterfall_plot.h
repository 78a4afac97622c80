#pragma once

// A waterfall lying on its side: a line for each bar, its name, where it leads from and to, and by
// how much. Up and Down pick a bar, a click too.

#include <QWidget>
#include <optional>
#include <vector>

#include "gui/models/compare/differences.h"

namespace strata::gui {

class WaterfallPlot : public QWidget {
  Q_OBJECT

 public:
  explicit WaterfallPlot(QWidget* parent = nullptr);

  void show_bars(std::vector<WaterfallBar> bars, const QString& caption);
  const std::vector<WaterfallBar>& bars() const { return bars_; }
  /// The bars of these layers stand out.
  void select(std::vector<LayerId> layers);

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {260, 120}; }

 signals:
  void picked(strata::LayerId layer);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Scale {
    double low = 0, high = 1;
  };

  int caption_height() const;
  double line_height() const;
  double names_width() const;
  Scale scale() const;
  std::optional<std::size_t> bar_at(const QPointF& at) const;
  bool chosen(const WaterfallBar& bar) const;
  void paint_bar(QPainter& painter, std::size_t i, const Scale& scale) const;

  std::vector<WaterfallBar> bars_;
  std::vector<LayerId> layers_;
  QString caption_;
};

}  // namespace strata::gui
