#pragma once

// One layer of every op, in every rank that it has, with random shapes and windows: what tests
// that go through all ops share.

#include <cstdint>
#include <iosfwd>
#include <random>
#include <string>
#include <vector>

#include "sim/graph/graph.h"
#include "tests/exec/reference/layers.h"

namespace strata::reference {

/// An op to try, by its name(op); or one of "add_twice" (a tensor to itself), "concat_one".
struct OpCase {
  std::string name;
  int rank = 2;  ///< of the data that it is tried on: 1 (c, w), 2 (c, h, w), 3 (c, d, h, w)
  std::int64_t most_channels = 9;
};
void PrintTo(const OpCase& c, std::ostream* out);

/// "batch_norm_1d"; ops whose name says their rank keep it.
std::string title(const OpCase& c);

/// Every op in every rank.
std::vector<OpCase> all_ops();

/// A graph whose last layer is one of the op, reading inputs alone, with drawn extents, windows
/// and constants. Throws InputError where what was drawn does not fit; draw again.
Graph draw_layer(const OpCase& c, std::mt19937_64& random);
/// As draw_layer, drawn until it fits.
Graph draw_fitting_layer(const OpCase& c, std::mt19937_64& random);

/// The inputs of the last layer: away from the kinks of `op` by a thousandth, and for a maximum all
/// different by that much.
std::vector<Tensor> draw_inputs(const Graph& graph, std::mt19937_64& random);

}  // namespace strata::reference
