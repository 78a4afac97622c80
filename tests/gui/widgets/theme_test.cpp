// Colours that say something are told from those of what is disabled, and from each other.

#include "gui/widgets/theme.h"

#include <gtest/gtest.h>

namespace strata::gui {
namespace {

Theme theme(bool dark) {
  QPalette palette;
  palette.setColor(QPalette::Base, dark ? Qt::black : Qt::white);
  palette.setColor(QPalette::Text, dark ? Qt::white : Qt::black);
  return theme_of(palette);
}

TEST(ThemeTest, NoCategoryIsGrey) {
  for (const bool dark : {false, true}) {
    for (std::size_t i = 0; i < 10; ++i) {
      for (std::size_t shade = 0; shade < 5; ++shade) {
        const QColor colour = shade_colour(category_colour(i, theme(dark)), shade);
        EXPECT_GT(colour.hslSaturationF(), 0.2) << i << " " << shade << " " << dark;
      }
    }
  }
}

TEST(ThemeTest, ShadesOfAColourDiffer) {
  for (std::size_t i = 0; i < 10; ++i) {
    const QColor colour = category_colour(i, theme(false));
    EXPECT_EQ(shade_colour(colour, 3).rgb(), colour.rgb());
    for (std::size_t a = 0; a < 5; ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        const double apart =
            std::abs(shade_colour(colour, a).lightnessF() - shade_colour(colour, b).lightnessF());
        EXPECT_GT(apart, 0.04) << i << ": " << a << ", " << b;
      }
    }
  }
}

}  // namespace
}  // namespace strata::gui
