#pragma once

// Layers drawn with all that they read, as a site's tensors hold it, and what their shards compute
// held against the referee in double precision. What is compared is a whole tensor's distance, over
// its largest element.

#include <algorithm>
#include <string>
#include <vector>

#include "sim/graph/graph.h"
#include "sim/graph/model_file.h"
#include "tests/exec/reference/op_cases.h"
#include "tests/exec/reference/reference.h"
#include "tests/exec/shards/layer_on_shards.h"
#include "tests/exec/shards/random.h"

namespace strata::shards {

/// The largest difference over the largest wanted value, where that is above `least`; infinite
/// where one is not a number.
double distance(const std::vector<double>& got, const std::vector<double>& wanted,
                double least = 0);

/// Layer 1 reads the input, layer 0. Weights and values lie in [-1, 1).
struct DrawnLayer {
  DrawnLayer(const Site& site, const Extents& input, const Op& op, Random& random);

  Graph graph;
  reference::Tensor x, dy;
  reference::Weights weights;
};

/// Output and all gradients, twice: what a run leaves behind must not reach the next.
void expect_as_reference(Site& site, const DrawnLayer& drawn, const Cut& cut);

/// A layer drawn for an op, with all that it reads.
struct DrawnOp {
  DrawnOp(const Site& site, const reference::OpCase& c, Random& random);

  reference::LayerCall call() const;
  const Layer& layer() const { return graph[id]; }
  const Extents& output() const { return graph[id].output; }

  Graph graph;
  LayerId id;
  std::vector<reference::Tensor> inputs;
  reference::Weights weights;
  std::vector<std::int64_t> labels;
  reference::Tensor dy;
  reference::DropoutMask mask;
};

/// About half of the dims in up to four parts, 64 in all.
Degrees draw_degrees(const Extents& output, Random& random);
/// As the layer may be cut; about half of the time, in parts of its sums, too.
Degrees draw_degrees(const Layer& layer, Random& random);

/// Output, loss and all gradients, twice.
void expect_as_reference(Site& site, const DrawnOp& drawn, const Cut& cut);

/// Calls trial(drawn, random) for a layer of each seed.
template <class Trial>
void each_drawn(const Site& site, reference::OpCase c, std::uint64_t seeds, const Trial& trial) {
  each_seed(seeds, [&](Random& random) {
    c.most_channels = pick(random, 0, 1) == 0 ? 9 : 40;
    const DrawnOp drawn(site, c, random);
    SCOPED_TRACE(print_model(drawn.graph) + "batch " + std::to_string(drawn.graph.batch()));
    trial(drawn, random);
  });
}

bool has_windows(const reference::OpCase& c);
/// Layers of it read one tensor for all, so that their gradients of it add up.
bool adds_inputs(const reference::OpCase& c);
/// Whose gradients add up over rounds, and over layers that share a weight.
bool has_parameters(const reference::OpCase& c);
/// Elementwise, and its gradient needs no input: the others never work in place.
bool works_in_place(const reference::OpCase& c);

/// All of all_ops() that `keep` keeps.
template <class Keep>
std::vector<reference::OpCase> ops_that(const Keep& keep) {
  std::vector<reference::OpCase> ops = reference::all_ops();
  std::erase_if(ops, [&](const reference::OpCase& c) { return !keep(c); });
  return ops;
}

}  // namespace strata::shards
