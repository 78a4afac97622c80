#pragma once

// What a prediction's compute time rests on, by what is computed: which ops were measured, how much
// of the time is only estimated, and what of the network has no cost at all but that of its bytes.
// Pure; thread-safe.

#include <cstddef>
#include <string>
#include <vector>

#include "sim/case/predict.h"

namespace strata {

struct CostBasis {
  std::string op;  ///< the op's name (op.h)
  Phase phase = Phase::forward;
  CostSource source = CostSource::analytic;
  double share = 0;  ///< of the compute time of all devices, in what was simulated
};

/// The largest share first.
std::vector<CostBasis> cost_basis(const Case& input, const Prediction& prediction);

/// "Compute time rests on: 83% measured, 0% interpolated, 12% related, 5% analytic costs"; empty
/// where nothing is computed.
std::string rests_on_text(const CostSources& sources);
/// "Not measured on a100 in fp16: 31% conv2d backward_weights (related), 12% batch_norm forward
/// (analytic)"; empty where all is measured.
std::string not_measured_text(const Case& input, const Prediction& prediction);

/// The layers of opaque ops that compute nobody knows how much (Opaque::uncosted): what they
/// compute takes no time in a prediction. How large a share of the arithmetic that is, nobody knows
/// either; of what they make and hold it is known.
struct Uncosted {
  std::size_t layers = 0;
  std::vector<std::string> ops;  ///< each kind once, in the order of the layers
  double activations = 0;        ///< share of what all layers but inputs make
  double parameters = 0;         ///< share of what all layers hold

  bool operator==(const Uncosted&) const = default;
};
Uncosted uncosted(const Graph& graph);

}  // namespace strata
