#pragma once

// What a shard of a layer, or a move of bytes, costs on a kind of device: measured, else
// interpolated between measured shapes, else related to other measurements, else from a roofline
// with an efficiency model of the device kind. The answer says which.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "sim/base/units.h"
#include "sim/geometry/geometry.h"
#include "sim/graph/graph.h"
#include "sim/graph/op.h"
#include "sim/graph/optimizer.h"
#include "sim/profile/profile.h"

namespace strata {

/// From the surest to the least sure.
enum class CostSource : std::uint8_t {
  measured,
  interpolated,
  related,  ///< from measured figures of something else, by a relation that docs/profiles.md states
  analytic
};
inline constexpr std::array<std::string_view, 4> kCostSourceNames = {"measured", "interpolated",
                                                                     "related", "analytic"};
constexpr std::string_view name(CostSource source) {
  return kCostSourceNames[static_cast<std::size_t>(source)];
}

struct Cost {
  Seconds seconds;
  CostSource source = CostSource::analytic;
  double spread = 0;  ///< of what was measured: half the distance between quartiles, of `seconds`
  std::int32_t kernels = 1;  ///< that a host launches one after another
  /// The host reads what the device made before it, and so waits, before it launches this.
  bool host_waits = false;
};

/// One shard's work. `inputs` are the extents of what the shard reads of each input (halo
/// included, padding not). Views: they must outlive the call only.
struct ShardWork {
  const Op* op = nullptr;
  Extents output;
  std::span<const Extents> inputs;
  Parameters parameters;  ///< of this shard
  DTypes dtypes = DType::fp32;
  Optimizer optimizer = Optimizer::sgd;  ///< the rule of its update
};

/// Costs on one device kind. Thread-safe.
class CostModel {
 public:
  virtual ~CostModel() = default;
  /// Zero for work that moves and computes nothing (flatten, an input).
  virtual Cost compute(const ShardWork& work, Phase phase) const = 0;
  /// Moving `bytes` into the device's memory where the device does it itself, other devices quiet.
  /// Zero for no bytes.
  virtual Cost move(MoveKind kind, Bytes bytes) const = 0;
  /// The memory of one device of the kind.
  virtual Bytes memory_capacity() const = 0;
  /// The share of the kind's multiprocessors that NCCL's channels have for themselves; 0 where the
  /// profile says nothing of them.
  virtual double nccl_share() const { return 0; }
  /// Of NCCL on the kind; 0 where the profile says nothing of them.
  virtual std::int64_t nccl_channels() const { return 0; }
  /// Whether the kind has arithmetic of this type. Where not, it computes in fp32, and its elements
  /// alone have the type's size.
  virtual bool computes_in(DType) const { return true; }
  /// The power limit of the kind at which matrix units keep up what they do in this type for
  /// seconds; nothing where the profile does not say both.
  virtual std::optional<Watts> power(DType) const { return std::nullopt; }
  /// Of the kind's arithmetic units in this type; nothing where the profile has none.
  virtual std::optional<FlopsPerSecond> peak(DType) const { return std::nullopt; }
  /// The highest model FLOPs utilisation in this type that anybody published of the kind; nothing
  /// where the profile has none.
  virtual std::optional<double> published_mfu(DType) const { return std::nullopt; }
  /// How the kind's kernels work; and the same costs of kernels that work otherwise.
  virtual KernelTraits kernels() const { return {}; }
  /// Whether the kind is known to have this implementation of an attention.
  virtual bool has(AttentionKernel kernel) const {
    return kernel == AttentionKernel::fused || kernel == AttentionKernel::unfused;
  }
  virtual std::unique_ptr<CostModel> with(const KernelTraits& kernels) const = 0;
  /// How many devices were busy at once while its rows were measured; 0 where nobody said.
  virtual std::int64_t measured_devices() const { return 0; }
};

/// Answers from the profile: its measured row, else between its rows (measured_costs.h,
/// measured_moves.h), else its kernel tables (kernel_costs.h), else its roofline (roofline.h): a
/// move reads what arrives and writes it, and a sum also reads what is there.
std::unique_ptr<CostModel> make_cost_model(const Profile& profile);

}  // namespace strata
