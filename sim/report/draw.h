#pragma once

// The parts of a chart as SVG, each behind what was drawn before. Colours are classes: series-0 to
// series-7, grid, axis, ideal. Pure; thread-safe.

#include <string>

#include "sim/report/layout.h"

namespace strata {

/// Grid, axes, ticks and labels.
void draw_frame(const Drawing& drawing, const Layout& layout, std::string& svg);
void draw_lines(const Drawing& drawing, const Layout& layout, std::string& svg);
void draw_scatter(const Drawing& drawing, const Layout& layout, std::string& svg);
void draw_bars(const Drawing& drawing, const Layout& layout, std::string& svg);
/// Names at the ends of lines, and the legend.
void draw_names(const Drawing& drawing, const Layout& layout, std::string& svg);

/// A dashed line for the ideals of a series.
void draw_ideal(const MarkSeries& series, const Layout& layout, std::string& svg);

/// Thin and dashed.
std::string ideal_element(const std::string& path);

/// The class that has the colour of a series.
std::string series_class(std::size_t series);

/// A point of a series, which has a shape beside its colour; `title` appears where it is pointed
/// at, none where it is empty.
std::string marker(std::size_t series, double x, double y, const std::string& title);

/// <text x="" y="" EXTRA>, with the whole text to point at where the label is a part of it.
std::string text_element(double x, double y, const std::string& extra, const std::string& label,
                         const std::string& whole);

/// "owt; devices: 4; step time (s): 0.25; ideal: 0.2", with all digits.
std::string title_of(const Drawing& drawing, const MarkSeries& series, const Mark& mark);

}  // namespace strata
