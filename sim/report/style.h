#pragma once

// How pages look: a style sheet, light and dark, for screens and paper; and the colours of charts,
// as numbers for whoever draws them otherwise.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace strata {

/// 0xRRGGBB. Those of the series are told apart with any colour vision, and at least 3:1 from the
/// page (WCAG 2.1, 1.4.11).
struct ChartPalette {
  std::uint32_t text, grid, axis, ideal;
  std::array<std::uint32_t, 8> series;
};
const ChartPalette& chart_palette(bool dark);
/// "#0072b2".
std::string css_colour(std::uint32_t colour);

/// For a <style> element; holds no "<". `.series-0` to `.series-7` have the colours of the series.
std::string_view page_style();

/// What of it charts have, in light or in dark, for one that stands in no page; text has `color`.
std::string chart_style(bool dark);

}  // namespace strata
