#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/report/draw.h"
#include "sim/report/escape.h"
#include "sim/report/number.h"
#include "sim/report/text_size.h"

namespace strata {
namespace {

constexpr double kShare = 0.8;  // of a category's room
constexpr double kWidest = 64;
constexpr double kSmall = 11;
constexpr std::size_t kMostValues = 30;

// The bars of a category stand side by side around its middle.
class Bars {
 public:
  Bars(const Drawing& drawing, const Layout& layout)
      : drawing_(drawing),
        layout_(layout),
        slot_(slot_width(drawing, layout)),
        width_(std::min(kWidest, slot_ * kShare / static_cast<double>(drawing.series.size()))),
        base_(layout.y.at(layout.y.logarithmic ? layout.y.range.low : 0)),
        values_(values_fit()) {}

  void draw(std::string& svg) const {
    for (std::size_t i = 0; i < drawing_.series.size(); ++i) {
      svg += fmt::format("<g class=\"{}\">\n", series_class(i));
      for (const Mark& mark : drawing_.series[i].marks) draw_bar(i, mark, svg);
      svg += "</g>\n";
    }
    for (std::size_t i = 0; i < drawing_.series.size(); ++i) {
      for (const Mark& mark : drawing_.series[i].marks) draw_beside(i, mark, svg);
    }
  }

 private:
  double left(std::size_t series, const Mark& mark) const {
    const double group = width_ * static_cast<double>(drawing_.series.size());
    return layout_.x.at(mark.x) - group / 2 + width_ * static_cast<double>(series);
  }

  // Neighbours are told apart by a gap where there is room for one.
  double drawn_width() const { return width_ > 4 ? width_ - 1 : width_; }

  void draw_bar(std::size_t series, const Mark& mark, std::string& svg) const {
    if (!mark.has_y()) return;
    const double end = layout_.y.at(mark.y);
    svg +=
        fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}</title></rect>\n",
                    coordinate(left(series, mark)), coordinate(std::min(end, base_)),
                    coordinate(drawn_width()), coordinate(std::abs(end - base_)),
                    escape_markup(title_of(drawing_, drawing_.series[series], mark)));
  }

  // What a bar is held to, and its value: above all bars.
  void draw_beside(std::size_t series, const Mark& mark, std::string& svg) const {
    const double x = left(series, mark);
    if (mark.has_ideal()) {
      svg += ideal_element(fmt::format("M{} {}H{}", coordinate(x - 2),
                                       coordinate(layout_.y.at(mark.ideal)),
                                       coordinate(x + width_ + 1)));
    }
    if (!values_ || !mark.has_y()) return;
    const std::string value = short_number(mark.y);
    svg += text_element(x + drawn_width() / 2, value_y(mark),
                        R"(font-size="11" text-anchor="middle")", value, value);
  }

  // Just beyond the bar's end; beyond the ideal where that would be struck through the digits.
  double value_y(const Mark& mark) const {
    const double end = layout_.y.at(mark.y), ideal = layout_.y.at(mark.ideal);
    const bool down = end > base_;
    const double beyond = down ? ideal - end : end - ideal;
    const bool struck = mark.has_ideal() && beyond > 0 && beyond < kSmall + 6;
    const double from = struck ? ideal : end;
    return down ? from + kSmall : from - 4;
  }

  bool values_fit() const {
    const double room = drawing_.series.size() == 1 ? slot_ : width_;
    double widest = 0;
    for (const MarkSeries& series : drawing_.series) {
      for (const Mark& mark : series.marks) {
        if (mark.has_y()) widest = std::max(widest, text_width(short_number(mark.y), kSmall));
      }
    }
    return drawing_.count() <= kMostValues && widest <= room;
  }

  const Drawing& drawing_;
  const Layout& layout_;
  double slot_, width_, base_;
  bool values_;
};

}  // namespace

void draw_bars(const Drawing& drawing, const Layout& layout, std::string& svg) {
  Bars(drawing, layout).draw(svg);
}

}  // namespace strata
