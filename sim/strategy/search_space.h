#pragma once

// The strategies that a search may choose from. Layers that must share their Config (an
// element-wise layer follows its producer, as in the paper; an attention's query, key and value are
// cut alike, for they read one tensor, and layers that share a weight so that each device holds the
// same part) make one variable; a variable's
// choices are all the cuts of its output along the dims of Table 1, and of its reduction where that
// is asked for, whose degrees multiply to no more than the devices. Values; thread-safe.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/strategy/strategy.h"

namespace strata {

/// Which degrees a dim may have: powers of two, divisors of the device count, or all up to it.
enum class DegreeSet : std::uint8_t { pow2, divisors, all };
inline constexpr std::array<std::string_view, 3> kDegreeSetNames = {"pow2", "divisors", "all"};
/// Powers of two, or divisors where the device count is none: so that all devices can be used.
DegreeSet usual_degrees(std::size_t devices);

/// Which layers a search may also cut in r.
enum class ReductionCuts : std::uint8_t { none, fully_connected, all };
inline constexpr std::array<std::string_view, 3> kReductionCutsNames = {"none", "fc", "all"};

/// One way of cutting a layer, with its shards on the first devices: the shard that owns the output
/// at coordinates x sits on the device sum over dims of x[dim] * strides[dim]. Every device below
/// the product of the degrees holds one shard.
struct Cut {
  Degrees degrees = kWhole;
  PerDim<std::int32_t> strides = kWhole;  ///< in devices; of a dim of degree 1: anything

  std::int64_t shards() const { return product(degrees); }
  auto operator<=>(const Cut&) const = default;
};

/// As the output lies of a layer that is cut so: how layers are cut that follow it.
Cut output_cut(const Cut& cut);

/// Numbered row-major over n, c, d, h, w: shard i on device i.
Cut row_major_cut(const Degrees& degrees);
Config config_of(const Cut& cut);
/// The other way round; nothing for shards that no strides place.
std::optional<Cut> cut_of(const Config& config);

/// All choices for tensors of equal extents; shared between them.
using Cuts = std::vector<Cut>;

struct SearchOptions {
  std::optional<DegreeSet> degrees = std::nullopt;  ///< else the usual ones
  bool free_elementwise = false;                    ///< element-wise layers choose for themselves
  /// Where a cut in several dims spans hosts, also the numberings with another dim outermost, so
  /// that the shards that talk most can share a host.
  bool host_placement = false;
  ReductionCuts reductions = ReductionCuts::fully_connected;

  bool operator==(const SearchOptions&) const = default;
};

struct SearchVariable {
  LayerId leader;               ///< the first of its layers
  std::vector<LayerId> layers;  ///< that share the choice, in the graph's order
  std::shared_ptr<const Cuts> cuts;
};

class SearchSpace {
 public:
  SearchSpace(const Graph& graph, const Cluster& cluster, const SearchOptions& options = {});

  /// The same variables with these of their choices alone (by variable: numbers, ascending).
  SearchSpace restricted(const std::vector<std::vector<std::uint32_t>>& kept) const;

  /// The same variables, this one with this cut alone, which the space need not hold.
  SearchSpace fixed(std::uint32_t variable, const Cut& cut) const;

  std::size_t size() const { return variables_.size(); }
  const SearchVariable& operator[](std::size_t variable) const { return variables_[variable]; }
  /// How the layer is cut where its variable is: a layer without sums of its own lies as the output
  /// of the one that it follows, one that shares a weight as goes with the weight's owner.
  Cut cut_of(LayerId layer, const Cut& choice) const;
  /// The same with its devices; `leader`: the config of the choice.
  Config config_of(LayerId layer, const Cut& choice, const Config& leader) const;
  /// The choice of its variable that gives the layer this config, which need not be among the
  /// choices unless layers of the variable share a weight; nothing where there is none.
  std::optional<Cut> choice_for(LayerId layer, const Config& config) const;
  /// The variable's choices, as cut_of() has those of a layer with sums.
  const std::shared_ptr<const Cuts>& cuts_of(LayerId layer) const;
  /// The variable that decides for the layer; nothing for a network input.
  std::optional<std::uint32_t> variable_of(LayerId layer) const { return variable_of_[layer()]; }
  /// The most choices of a variable: the paper's C.
  std::size_t max_choices() const;
  /// The base-10 logarithm of the number of strategies.
  double log10_strategies() const;

  /// The strategy that makes these choices, one per variable. Network inputs are not cut.
  Strategy strategy(std::string name, const std::vector<std::uint32_t>& choices) const;
  /// The choices that make this strategy; nothing where it is not in the space.
  std::optional<std::vector<std::uint32_t>> choices(const Strategy& strategy) const;

 private:
  std::size_t layers_ = 0;
  std::vector<SearchVariable> variables_;
  std::vector<std::optional<std::uint32_t>> variable_of_;
  std::vector<bool> has_sums_;  ///< by layer: its reduction may be cut
  /// A layer that shares another's weight.
  struct Sharing {
    Layer layer;
    std::shared_ptr<const Cuts> cuts;  ///< by choice of its variable
  };
  void cut_sharing_layers();
  std::map<LayerId, Sharing> sharing_;
};

}  // namespace strata
