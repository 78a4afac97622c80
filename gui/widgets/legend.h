#pragma once

// What the colours of a picture mean: a square and a word each, in as many lines as it takes.

#include <QString>
#include <QWidget>
#include <functional>
#include <vector>

#include "gui/widgets/theme.h"

namespace strata::gui {

struct LegendEntry {
  QString text;
  std::function<QColor(const Theme&)> colour;
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

}  // namespace strata::gui
