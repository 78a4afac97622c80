#pragma once

// Measured costs of layer shards, and the table of text that holds them: thousands of rows of
// tab-separated columns (docs/profiles.md). Values; thread-safe.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.h"
#include "sim/geometry/geometry.h"
#include "sim/graph/graph.h"
#include "sim/graph/op.h"
#include "sim/graph/ops/phase.h"
#include "sim/graph/optimizer.h"

namespace strata {

/// What was measured. Padding is left out: it follows from the extents, and a shard inside the
/// tensor has none.
struct CostKey {
  std::string signature;  ///< of the op, as signature() writes it
  DType dtype = DType::fp32;
  Phase phase = Phase::forward;
  Extents output;
  std::vector<Extents> inputs;           ///< what the shard reads, halo included
  Optimizer optimizer = Optimizer::sgd;  ///< of an update; sgd of all else

  auto operator<=>(const CostKey&) const = default;
};

struct MeasuredCost {
  CostKey key;
  Seconds seconds;         ///< median
  Seconds spread;          ///< half the distance between the quartiles
  std::int64_t count = 1;  ///< repetitions
  std::string source;      ///< machine, date, library

  /// The spread, of the seconds.
  double relative_spread() const { return seconds.value > 0 ? spread / seconds : 0; }

  bool operator==(const MeasuredCost&) const = default;
};

/// The extents of what a shard with this output reads of each input of its layer, as kernels are
/// given it: halo included, padding not, one box around a flattened run. Zeros where it reads none.
std::vector<Extents> input_extents(const Graph& graph, LayerId layer, const Tile& shard);

/// `optimizer`: whose update it is, where it is one.
CostKey cost_key(const Graph& graph, LayerId layer, const Tile& shard, DType dtype, Phase phase,
                 Optimizer optimizer = Optimizer::sgd);

/// Sorted by key. Throws InputError "FILE:LINE: ..." that lists what is wrong, a key that comes
/// twice among it.
std::vector<MeasuredCost> parse_measured_costs(std::string_view table, const std::string& file);
std::string print_measured_costs(const std::vector<MeasuredCost>& costs);

}  // namespace strata
