#pragma once

// A Config as a small picture: the tensor as a block whose front is h by w and whose depth is c,
// cut where the layer is cut; and one such block for each part of the samples. Pure but for
// painting.

#include <QPainter>
#include <QRectF>

#include "sim/strategy/strategy.h"

namespace strata::gui {

/// More cuts than can be told apart are drawn as some.
void paint_config(QPainter& painter, const QRectF& where, const Degrees& degrees,
                  const QColor& fill, const QColor& lines);

}  // namespace strata::gui
