#pragma once

// How much room a text takes in a drawing, before any font is known: estimates on the wide side,
// from the widths that letters have in common sans-serif fonts. Pure; thread-safe.

#include <string>
#include <string_view>

namespace strata {

constexpr double kFontSize = 12;

double text_width(std::string_view text, double font_size = kFontSize);

/// The text, or as much of its beginning as fits, with "…" behind it.
std::string cut_text(std::string_view text, double width, double font_size = kFontSize);

/// The same with "…" in the middle: for names that differ at their ends.
std::string cut_middle(std::string_view text, double width, double font_size = kFontSize);

}  // namespace strata
