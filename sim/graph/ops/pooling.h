#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/graph/ops/access.h"
#include "sim/graph/ops/facts.h"
#include "sim/graph/ops/window.h"
#include "sim/graph/ops/work.h"

namespace strata {

enum class PoolMode : std::uint8_t { max, average };

/// The maximum or the mean of a window, channel by channel.
struct Pooling {
  int rank = 2;
  PoolMode mode = PoolMode::max;
  Windows windows{};
  bool ceil_mode = false;         ///< a last window may hang over the padded end
  bool count_include_pad = true;  ///< average: padding counts as zeros in the divisor
  bool operator==(const Pooling&) const = default;

  static constexpr OpTraits kTraits{.summary = "pool"};
  std::string_view name() const;
  Extents output(InputExtents inputs) const;
  AccessMap reads(const ReadContext& context) const;
  /// The place of each maximum.
  Saved saved(const SavedContext&) const { return {.each_element = mode == PoolMode::max}; }
  PhaseWork work(const ShardShape& shard, Phase phase) const;
  /// What its costs depend on beside its name, extents and parameters, as measured costs have it.
  std::string cost_attributes() const;
  void make_canonical();
  template <class Visitor>
  void visit_keys(Visitor& v) {
    v.along("kernel", windows, rank, &Window::kernel, std::nullopt);
    const Windows& w = windows;
    v.along("stride", windows, rank, &Window::stride,
            AlongDims{w.d.kernel, w.h.kernel, w.w.kernel});
    v.padding("padding", windows, rank);
    v.flag("ceil_mode", ceil_mode, false);
    if (mode == PoolMode::max) {
      v.along("dilation", windows, rank, &Window::dilation, AlongDims{1, 1, 1});
    } else {
      v.flag("count_include_pad", count_include_pad, true);
    }
  }
  static std::vector<Pooling> prototypes();
};

/// Output cell i of extent O averages (or takes the maximum of) inputs
/// [floor(i S / O), ceil((i+1) S / O)). Global pooling has outputs 1, 1, 1.
struct AdaptivePooling {
  int rank = 2;
  PoolMode mode = PoolMode::average;
  std::int64_t d = 1, h = 1, w = 1;  ///< output extents; dims beyond the rank keep their extent
  bool operator==(const AdaptivePooling&) const = default;

  static constexpr OpTraits kTraits{.summary = "global pool"};
  std::string_view name() const;
  Extents output(InputExtents inputs) const;
  AccessMap reads(const ReadContext& context) const;
  /// The place of each maximum.
  Saved saved(const SavedContext&) const { return {.each_element = mode == PoolMode::max}; }
  PhaseWork work(const ShardShape& shard, Phase phase) const;
  void make_canonical();
  template <class Visitor>
  void visit_keys(Visitor& v) {
    v.outputs("output", *this);
  }
  static std::vector<AdaptivePooling> prototypes();
};

}  // namespace strata
