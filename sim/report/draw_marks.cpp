#include <array>

#include <fmt/format.h>

#include "sim/report/draw.h"
#include "sim/report/escape.h"
#include "sim/report/number.h"
#include "sim/report/style.h"

namespace strata {
namespace {

constexpr std::size_t kColours = std::tuple_size_v<decltype(ChartPalette::series)>;
constexpr double kRadius = 3.5;

struct Corner {
  double x, y;
};
using Shape = std::array<Corner, 4>;

// Around the point, of about one area with the circle; a triangle has a corner twice.
constexpr Shape kShapes[] = {
    {{{-3.2, -3.2}, {3.2, -3.2}, {3.2, 3.2}, {-3.2, 3.2}}},
    {{{0, -4.6}, {4.6, 0}, {0, 4.6}, {-4.6, 0}}},
    {{{0, -4.6}, {4.4, 3.2}, {-4.4, 3.2}, {-4.4, 3.2}}},
    {{{0, 4.6}, {-4.4, -3.2}, {4.4, -3.2}, {4.4, -3.2}}},
};
constexpr std::size_t kShapeCount = std::size(kShapes) + 1;

// The ninth series has the first one's colour again, but another shape.
std::size_t shape_of(std::size_t series) {
  return (series + series / kColours) % kShapeCount;
}

std::string polygon(const Shape& shape, double x, double y) {
  std::string points;
  for (const Corner& corner : shape) {
    points += fmt::format("{}{},{}", points.empty() ? "" : " ", coordinate(x + corner.x),
                          coordinate(y + corner.y));
  }
  return fmt::format(R"(<polygon points="{}")", points);
}

std::string labelled(const std::string& label, const std::string& value) {
  return label.empty() ? value : label + ": " + value;
}

std::string x_text(const Drawing& drawing, double x) {
  return drawing.categories.empty() ? shortest(x) : drawing.categories[static_cast<std::size_t>(x)];
}

}  // namespace

std::string ideal_element(const std::string& path) {
  return fmt::format(
      "<path class=\"ideal\" d=\"{}\" fill=\"none\" stroke-width=\"1.5\" "
      "stroke-dasharray=\"5 4\"/>\n",
      path);
}

std::string series_class(std::size_t series) {
  return fmt::format("series-{}", series % kColours);
}

std::string marker(std::size_t series, double x, double y, const std::string& title) {
  const std::size_t shape = shape_of(series);
  const std::string open = shape == 0
                               ? fmt::format(R"(<circle cx="{}" cy="{}" r="{}")", coordinate(x),
                                             coordinate(y), coordinate(kRadius))
                               : polygon(kShapes[shape - 1], x, y);
  if (title.empty()) return open + "/>\n";
  const std::string name = open.substr(1, open.find(' ') - 1);
  return fmt::format("{}><title>{}</title></{}>\n", open, escape_markup(title), name);
}

std::string text_element(double x, double y, const std::string& extra, const std::string& label,
                         const std::string& whole) {
  const std::string title =
      label == whole ? "" : fmt::format("<title>{}</title>", escape_markup(whole));
  return fmt::format("<text x=\"{}\" y=\"{}\"{}{}>{}{}</text>\n", coordinate(x), coordinate(y),
                     extra.empty() ? "" : " ", extra, escape_markup(label), title);
}

std::string title_of(const Drawing& drawing, const MarkSeries& series, const Mark& mark) {
  std::string title = series.name.empty() ? "" : series.name + "; ";
  title += labelled(drawing.x_label, x_text(drawing, mark.x)) + "; ";
  title += labelled(drawing.y_label, shortest(mark.y));
  if (mark.has_ideal()) title += "; ideal: " + shortest(mark.ideal);
  return title;
}

}  // namespace strata
