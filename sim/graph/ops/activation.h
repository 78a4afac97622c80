#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/graph/ops/access.h"
#include "sim/graph/ops/facts.h"
#include "sim/graph/ops/work.h"

namespace strata {

enum class ActivationKind : std::uint8_t {
  relu,
  relu6,
  leaky_relu,
  elu,
  sigmoid,
  tanh,
  silu,
  gelu,
  hard_swish,
  hard_sigmoid,  ///< 0 ... 1, x / 6 + 1/2 between
  squared_relu,  ///< the square of a ReLU (So et al., "Primer", 2021)
  softcap,       ///< cap tanh(x / cap)
  scale          ///< factor x
};
inline constexpr std::size_t kActivationKinds = 13;

struct Activation {
  ActivationKind kind = ActivationKind::relu;
  double slope = 0.01;  ///< leaky_relu's negative slope, elu's alpha, softcap's cap, scale's factor
  bool operator==(const Activation&) const = default;

  static constexpr OpTraits kTraits{.elementwise = true};
  std::string_view name() const;
  Extents output(InputExtents inputs) const;
  AccessMap reads(const ReadContext&) const { return kSameElement; }
  /// The gradient follows from the output alone, if it needs more than its own, so that the input
  /// may be overwritten by it. False for silu, gelu, hard_swish and squared_relu, and for a
  /// leaky_relu or an elu of a negative slope, which folds the signs together: they need their
  /// input.
  bool gradient_from_output() const;
  BackwardReads backward_reads() const {
    if (kind == ActivationKind::scale) return {};
    return {.inputs = !gradient_from_output(), .output = gradient_from_output()};
  }
  PhaseWork work(const ShardShape& shard, Phase phase) const;
  void make_canonical();
  template <class Visitor>
  void visit_keys(Visitor& v) {
    if (kind == ActivationKind::leaky_relu) v.number("slope", slope, 0.01);
    if (kind == ActivationKind::elu) v.number("alpha", slope, 1.0);
    if (kind == ActivationKind::softcap) v.number("cap", slope, 30.0);
    if (kind == ActivationKind::scale) v.number("factor", slope, 1.0);
  }
  static std::vector<Activation> prototypes();

 private:
  bool has_slope() const;
};

}  // namespace strata
