#pragma once

// What the colours of a picture mean: a square and a word each, in as many lines as it takes; or
// written into one line of a picture.

#include <QPainter>
#include <QPen>
#include <QString>
#include <QWidget>
#include <functional>
#include <vector>

#include "gui/widgets/theme.h"

namespace strata::gui {

struct LegendEntry {
  QString text;
  std::function<QColor(const Theme&)> colour;
  Qt::BrushStyle pattern = Qt::SolidPattern;
};

class Legend : public QWidget {
 public:
  explicit Legend(std::vector<LegendEntry> entries, QWidget* parent = nullptr);

  void set_entries(std::vector<LegendEntry> entries);
  const std::vector<LegendEntry>& entries() const { return entries_; }
  /// In so many pixels, heightForWidth() of them high.
  void paint(QPainter& painter, int width) const;

  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  int line_height() const { return fontMetrics().height() + 6; }
  int width_of(const LegendEntry& entry) const;
  /// Where each stands.
  std::vector<QRect> places(int width) const;

  std::vector<LegendEntry> entries_;
};

/// One line of a picture, filled from the left on. What has no room there is left out, and so is
/// all that would follow it.
class LegendLine {
 public:
  LegendLine(QPainter& painter, const QRectF& line, const Theme& theme);

  void words(const QString& text);
  void square(const QColor& colour, const QString& text);
  void stroke(const QPen& pen, const QString& text);
  /// The colours from 0 to 1, between what these stand for.
  void scale(const std::function<QColor(double)>& colour, const QString& from, const QString& to);

 private:
  /// A sign of that width, with the text behind it; where it lies, or empty.
  QRectF take(double sign, const QString& text, const QColor& colour);
  double width_of(const QString& text) const;

  QPainter& painter_;
  QRectF room_;  ///< what is left
  Theme theme_;
};

}  // namespace strata::gui
