#pragma once

// How pages look: a style sheet, light and dark, for screens and paper.

#include <string>
#include <string_view>

namespace strata {

/// For a <style> element; holds no "<". `.series-0` to `.series-7` have the colours of the series:
/// told apart with any colour vision, and at least 3:1 from the page (WCAG 2.1, 1.4.11).
std::string_view page_style();

/// What of it charts have, in light or in dark, for one that stands in no page; text has `color`.
std::string chart_style(bool dark);

}  // namespace strata
