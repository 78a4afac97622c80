#pragma once

// A row of big numbers, each with its difference to the baseline; under the first, the values that
// it had of late.

#include <QWidget>
#include <vector>

#include "gui/models/what_if/headlines.h"

namespace strata::gui {

class NumberTiles : public QWidget {
  Q_OBJECT

 public:
  explicit NumberTiles(QWidget* parent = nullptr);

  void show_numbers(std::vector<Headline> numbers);
  /// The first number's values, the latest last.
  void show_history(std::vector<double> values);

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  int tile_height() const;
  int height_for(int width) const;
  bool has_history(int width) const;
  /// How many tiles stand in each row.
  std::vector<std::size_t> rows_for(int width) const;
  double text_width(const QRectF& tile, const Headline& number) const;
  std::vector<QRectF> tiles() const;
  QFont big() const;
  void paint_tile(QPainter& painter, const QRectF& tile, const Headline& number) const;
  void paint_history(QPainter& painter, const QRectF& area) const;

  std::vector<Headline> numbers_;
  std::vector<double> history_;
};

}  // namespace strata::gui
