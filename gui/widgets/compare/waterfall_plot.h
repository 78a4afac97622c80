#pragma once

// A waterfall lying on its side: a line for each bar, its name, where it leads from and to, and by
// how much. Lines are as high as their text needs: what has no room stands together as one bar, so
// that they still add up. Up and Down pick a bar, a click too.

#include <QWidget>
#include <optional>
#include <vector>

#include "gui/models/compare/waterfall.h"

namespace strata::gui {

class WaterfallPlot : public QWidget {
  Q_OBJECT

 public:
  explicit WaterfallPlot(QWidget* parent = nullptr);

  void show_bars(std::vector<WaterfallBar> bars, const QString& title, const QString& caption);
  /// Those that have room.
  const std::vector<WaterfallBar>& bars() const { return bars_; }
  /// The bars of these layers stand out.
  void select(std::vector<LayerId> layers);

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 signals:
  void picked(strata::LayerId layer);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  static constexpr double kEdge = 8;  // pixels
  struct Scale {
    double low = 0, high = 1;
  };

  double line_height() const;
  double top() const;
  double height_for(std::size_t lines) const;
  void gather();
  double names_width() const;
  Scale scale() const;
  std::optional<std::size_t> bar_at(const QPointF& at) const;
  bool chosen(const WaterfallBar& bar) const;
  QString tip_at(const QPointF& at) const;
  void paint_bar(QPainter& painter, std::size_t i, const Scale& scale) const;
  void paint_texts(QPainter& painter, const Scale& scale) const;

  std::vector<WaterfallBar> all_, bars_;
  std::vector<LayerId> layers_;
  QString title_, caption_;
};

}  // namespace strata::gui
