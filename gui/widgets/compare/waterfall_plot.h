#pragma once

// A waterfall lying on its side: a line for each bar, its name, where it leads from and to, and by
// how much. Where its axis is broken, the totals are torn. Lines are as high as their text needs:
// what has no room stands together as one bar, so that they still add up. Up and Down pick a bar, a
// click too.

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

  double line_height() const;
  double top() const;
  double height_for(std::size_t lines) const;
  void gather();
  double names_width() const;
  std::optional<std::size_t> bar_at(const QPointF& at) const;
  bool chosen(const WaterfallBar& bar) const;
  QString tip_at(const QPointF& at) const;
  QString number(std::size_t bar) const;
  double numbers_width() const;
  void paint_bar(QPainter& painter, std::size_t i, const WaterfallAxis& axis) const;
  void paint_break(QPainter& painter, const QRectF& bar, double x) const;
  void paint_texts(QPainter& painter, const WaterfallAxis& axis) const;

  std::vector<WaterfallBar> all_, bars_;
  std::vector<std::size_t> shared_;  ///< by bar: see shared_prefixes()
  std::vector<LayerId> layers_;
  QString title_, caption_;
};

}  // namespace strata::gui
