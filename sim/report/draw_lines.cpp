#include <fmt/format.h>

#include "sim/report/draw.h"
#include "sim/report/number.h"

namespace strata {
namespace {

constexpr std::size_t kMostMarkers = 400;  // more hide the lines that they are on
constexpr double kDash = 8;

struct Point {
  double x, y;
};

// The stretches of a line that no missing value interrupts.
std::vector<std::vector<Point>> stretches(const MarkSeries& series, const Layout& layout,
                                          double Mark::*value) {
  std::vector<std::vector<Point>> found;
  bool going = false;
  for (const Mark& mark : series.marks) {
    const double y = mark.*value;
    const bool there = y == y;
    if (there && !going) found.emplace_back();
    if (there) found.back().push_back({layout.x.at(mark.x), layout.y.at(y)});
    going = there;
  }
  return found;
}

std::string path_of(const std::vector<Point>& points) {
  std::string path;
  for (const Point& point : points) {
    path +=
        fmt::format("{}{} {}", path.empty() ? "M" : "L", coordinate(point.x), coordinate(point.y));
  }
  return path;
}

// An ideal on its own is a dash.
std::string ideal_path(const std::vector<Point>& points) {
  if (points.size() > 1) return path_of(points);
  return fmt::format("M{} {}H{}", coordinate(points[0].x - kDash), coordinate(points[0].y),
                     coordinate(points[0].x + kDash));
}

void draw_path(const MarkSeries& series, const Layout& layout, std::string& svg) {
  std::string path;
  for (const auto& points : stretches(series, layout, &Mark::y)) {
    if (points.size() > 1) path += path_of(points);
  }
  if (path.empty()) return;
  svg += fmt::format(
      "<path d=\"{}\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"2\" "
      "stroke-linejoin=\"round\"/>\n",
      path);
}

void draw_markers(const Drawing& drawing, const Layout& layout, std::size_t i, std::string& svg) {
  const MarkSeries& series = drawing.series[i];
  for (const Mark& mark : series.marks) {
    if (!mark.has_y()) continue;
    svg += marker(i, layout.x.at(mark.x), layout.y.at(mark.y), title_of(drawing, series, mark));
  }
}

// A point between two gaps is all there is to see of its line.
void draw_lone_points(const MarkSeries& series, const Layout& layout, std::size_t i,
                      std::string& svg) {
  for (const auto& points : stretches(series, layout, &Mark::y)) {
    if (points.size() == 1) svg += marker(i, points[0].x, points[0].y, series.name);
  }
}

}  // namespace

void draw_ideal(const MarkSeries& series, const Layout& layout, std::string& svg) {
  std::string path;
  for (const auto& points : stretches(series, layout, &Mark::ideal)) path += ideal_path(points);
  if (!path.empty()) svg += ideal_element(path);
}

void draw_lines(const Drawing& drawing, const Layout& layout, std::string& svg) {
  for (const MarkSeries& series : drawing.series) draw_ideal(series, layout, svg);
  const bool few = drawing.count() <= kMostMarkers;
  for (std::size_t i = 0; i < drawing.series.size(); ++i) {
    svg += fmt::format("<g class=\"{}\">\n", series_class(i));
    draw_path(drawing.series[i], layout, svg);
    if (few) draw_markers(drawing, layout, i, svg);
    if (!few) draw_lone_points(drawing.series[i], layout, i, svg);
    svg += "</g>\n";
  }
}

void draw_scatter(const Drawing& drawing, const Layout& layout, std::string& svg) {
  for (const MarkSeries& series : drawing.series) draw_ideal(series, layout, svg);
  for (std::size_t i = 0; i < drawing.series.size(); ++i) {
    svg += fmt::format("<g class=\"{}\">\n", series_class(i));
    draw_markers(drawing, layout, i, svg);
    svg += "</g>\n";
  }
}

}  // namespace strata
