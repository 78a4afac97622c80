#include "sim/graph/ops/convolution.h"

#include "sim/graph/ops/checks.h"
#include "sim/graph/ops/ranked_name.h"

namespace strata {

std::string_view Convolution::name() const {
  return ranked_name({"conv1d", "conv2d", "conv3d"}, rank);
}

Extents Convolution::output(InputExtents inputs) const {
  Extents out = only(inputs);
  check_rank(rank);
  check_range("out_channels", out_channels, 1, kMaxExtent);
  check_range("groups", groups, 1, kMaxExtent);
  if (out[Dim::c] % groups != 0) {
    fail("{} groups do not divide the {} input channels", groups, out[Dim::c]);
  }
  if (out_channels % groups != 0) {
    fail("{} groups do not divide the {} output channels", groups, out_channels);
  }
  out[Dim::c] = out_channels;
  for (Dim dim : kSpatialDims) {
    check_window(windows[dim], dim, rank);
    out[dim] = convolved(windows[dim], out[dim], dim);
  }
  return out;
}

AccessMap Convolution::reads(const ReadContext& context) const {
  AccessMap map;
  map.dims[Dim::c] = access::Blocks{out_channels / groups, context.extents[Dim::c] / groups};
  for (Dim dim : kSpatialDims) map.dims[dim] = through(windows[dim]);
  return map;
}

std::int64_t Convolution::macs_per_output(InputExtents inputs) const {
  std::int64_t taps = inputs[0][Dim::c] / groups;
  for (Dim dim : kSpatialDims) taps = bounded_product(taps, windows[dim].kernel, kMaxMacs);
  return taps;
}

Parameters Convolution::parameters(InputExtents inputs) const {
  return {bounded_product(out_channels, macs_per_output(inputs), kMaxElements),
          bias ? out_channels : 0};
}

std::vector<Convolution> Convolution::prototypes() {
  return {{.rank = 1}, {.rank = 2}, {.rank = 3}};
}

}  // namespace strata
