#pragma once

// Paints one lane into a rectangle. Where slices are many it paints columns of pixels, each in the
// colour of its longest slice and as strong as it is filled, so that the time it takes is that of
// the pixels; where they are few, each with its name. What stands out among many has its pixel,
// too. Rounds of a batch have their numbers, on a slice or on a run of narrow ones; bubbles are
// hatched. Not thread-safe.

#include <QColor>
#include <QPainter>
#include <QStaticText>
#include <optional>
#include <unordered_map>
#include <vector>

#include "gui/models/timeline/lanes.h"
#include "gui/models/timeline/time_window.h"
#include "gui/widgets/theme.h"

namespace strata::gui {

QColor colour_of(const SliceStyle& style, const Theme& theme);

class LanePainter {
 public:
  /// For one recording, which must outlive this, in one theme.
  LanePainter(const Recording& recording, const Theme& theme);

  /// By label: those that stand out; empty: all do.
  void set_lit(std::vector<bool> lit);
  const std::vector<bool>& lit() const { return lit_; }
  /// `strength` below 1: as in a haze.
  void paint(QPainter& painter, const Lane& lane, const QRectF& area, const TimeWindow& window,
             double strength = 1);

 private:
  struct Text {
    QStaticText whole, layer;  ///< "conv1 forward" and "conv1"
    double whole_width = 0, layer_width = 0;
  };

  /// What a column of pixels shows.
  struct Seen {
    QRgb* pixel;
    const Slice* slice;
    double filled;  ///< share of the column
  };

  /// Slices side by side of one round, forward or not, each of which may be too narrow for its
  /// number.
  struct Run {
    double left = 0, right = 0;
    std::uint16_t round = 0, style = 0;
    bool numbered = false;  ///< a slice has it
    bool mixed = false;     ///< of several colours
  };

  void paint_slices(QPainter& painter, const Lane& lane);
  void paint_bubbles(QPainter& painter, const Lane& bubbles);
  void paint_runs(QPainter& painter);
  void extend_run(const Slice& slice, double left, double right, bool numbered);
  const QStaticText& number(std::uint16_t round, const QFont& font);
  void paint_few(QPainter& painter, const Lane& lane, std::size_t first, std::size_t last);
  void paint_slice(QPainter& painter, const Slice& slice);
  void paint_text(QPainter& painter, const Slice& slice, QRectF box);
  void paint_columns(QPainter& painter, const Lane& lane, std::size_t first, std::size_t columns);
  void paint_lit(QPainter& painter, const Lane& lane, std::size_t most);
  const std::vector<std::uint32_t>& lit_slices(const Lane& lane);
  void paint_curve(QPainter& painter, const Lane& lane, std::size_t first, std::size_t columns);
  double time_at(std::size_t column, std::size_t columns) const;
  const Text& text_of(std::uint32_t label, const QFontMetricsF& metrics);
  QRgb column_colour(const Slice& slice, double filled) const;
  double strength_of(const Slice& slice) const;

  const Recording& recording_;
  Theme theme_;
  QRgb background_;
  std::vector<QRgb> colours_;  // by style
  std::vector<bool> lit_;
  std::unordered_map<const Lane*, std::vector<std::uint32_t>> lit_slices_;
  std::unordered_map<std::uint32_t, Text> texts_;           // by label
  std::unordered_map<std::uint16_t, QStaticText> numbers_;  // by round
  // While a lane is painted.
  QRectF area_;
  TimeWindow window_;
  double strength_ = 1;
  std::vector<Seen> seen_;
  std::vector<Run> runs_;
  bool numbers_runs_ = false;
};

}  // namespace strata::gui
