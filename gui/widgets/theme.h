#pragma once

// The colours of everything that is painted, in light and in dark. Categories are told apart by
// people with any colour vision; scales run from calm to loud. Pure functions of a palette.

#include <QBrush>
#include <QColor>
#include <QPalette>
#include <QWidget>
#include <cstddef>

#include "sim/plan/work_kind.h"

namespace strata::gui {

enum class Appearance : std::uint8_t { system, light, dark };

/// For the whole program. `system` takes what the desktop has.
void apply(Appearance appearance);

struct Theme {
  bool dark = false;
  QColor background, text, faint;  ///< faint: secondary text
  QColor grid;                     ///< lines that nobody should notice
  QColor accent;                   ///< what is selected
  QColor good, bad;                ///< faster, slower than what it is compared with
  QColor critical;                 ///< the critical path
};
Theme theme_of(const QPalette& palette);

/// In letters a little smaller than usual.
void show_small(QWidget& widget);

/// The colour in part, over what lies beneath.
QColor see_through(QColor colour, double share);
/// The same colour in every view.
QColor work_colour(WorkKind kind, const Theme& theme);
/// The same, but for gradients of parameters, which are told apart from those of inputs.
QColor task_colour(TaskKind kind, Phase phase, const Theme& theme);
/// Of a forward pass that is computed again.
QColor recomputation_colour(const Theme& theme);
/// The same in every other round of a batch.
QColor odd_round_colour(const QColor& colour, const Theme& theme);
/// Of a device that waits for computation elsewhere: lines on the background.
QBrush bubble_brush(const Theme& theme, double strength = 1);
/// The i-th of things without an order (ops, strategies); ten, then again from the start.
/// None is grey, as what is disabled is.
QColor category_colour(std::size_t i, const Theme& theme);
/// One of five shades of a colour: 1 to 4 from pale to dark, 3 being the colour itself, and after
/// them 0, the darkest.
QColor shade_colour(const QColor& colour, std::size_t shade);
/// 0 (calm) to 1 (loud): a share of a whole, as the use of a link, or of the most, as costs.
QColor scale_colour(double value, const Theme& theme);
/// -1 (good) over 0 (neither) to 1 (bad): errors, differences.
QColor balance_colour(double value, const Theme& theme);

}  // namespace strata::gui
