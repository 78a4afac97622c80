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

/// Of groups of channels: each group's outputs read that group's inputs, through a window.
struct Convolution {
  int rank = 2;  ///< 1 (w), 2 (h, w) or 3 (d, h, w)
  std::int64_t out_channels = 0;
  Windows windows{};
  std::int64_t groups = 1;
  bool bias = true;
  bool operator==(const Convolution&) const = default;

  static constexpr OpTraits kTraits{.summary = "conv"};
  std::string_view name() const;
  Extents output(InputExtents inputs) const;
  AccessMap reads(const ReadContext& context) const;
  BackwardReads backward_reads() const { return {.inputs = true, .inputs_for_parameters = true}; }
  /// Multiply-accumulates per output element: I/groups x kernel; -1 beyond kMaxMacs.
  std::int64_t macs_per_output(InputExtents inputs) const;
  Parameters parameters(InputExtents inputs) const;
  /// What its costs depend on beside its name, extents and parameters, as measured costs have it.
  std::string cost_attributes() const;
  PhaseWork work(const ShardShape& shard, Phase phase) const;
  template <class Visitor>
  void visit_keys(Visitor& v) {
    v.count("out_channels", out_channels, std::nullopt);
    v.along("kernel", windows, rank, &Window::kernel, std::nullopt);
    v.along("stride", windows, rank, &Window::stride, AlongDims{1, 1, 1});
    v.padding("padding", windows, rank);
    v.along("dilation", windows, rank, &Window::dilation, AlongDims{1, 1, 1});
    v.count("groups", groups, 1);
    v.flag("bias", bias, true);
  }
  /// One of each name.
  static std::vector<Convolution> prototypes();
};

}  // namespace strata
