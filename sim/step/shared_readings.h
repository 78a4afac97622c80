#pragma once

// Inputs from another stage of a pipeline that several layers of one chunk read alike, as a norm
// and the sum of its residual do: the boxes arrive once for all, and one sum of gradients goes
// back. Pure; thread-safe.

#include <compare>
#include <cstddef>
#include <map>

#include "sim/graph/graph.h"
#include "sim/strategy/stages.h"
#include "sim/strategy/strategy.h"

namespace strata {

/// An input of a layer: its position in Layer::inputs.
struct Reading {
  LayerId layer;
  std::size_t input = 0;
  auto operator<=>(const Reading&) const = default;
};

/// For each such reading but the first, in the graph's order: the first, which has for all what
/// arrives. All are of one chunk and read the same boxes on the same devices. Inputs that
/// earlier_reading() or shared_reader() (redistribution.h) has for a layer are left out.
std::map<Reading, Reading> shared_readings(const Graph& graph, const Strategy& strategy,
                                           const Stages& stages);

}  // namespace strata
