#include "sim/kernels/kernel_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace strata {
namespace {

constexpr double kFar = 20;  // times a logarithm: no row of the one is near the other

double up_to(double value, double tile) {
  return std::ceil(value / tile) * tile;
}
double padding(double value, double tile) {
  return std::log(up_to(value, tile) / value);
}

// Rounds of `blocks` over so many places; part of the last, half-empty one overlaps with others.
double rounds(double blocks, double places, double even) {
  const double part = blocks / places;
  return (1 - even) * std::ceil(part) + even * std::max(part, 1.0);
}

struct Tile {
  double m, n;
};

struct ProductSize {
  double count, m, n, k;
};

// Seconds of tiles of m x n, each computed by one of the cores.
struct TileRates {
  double rate;  ///< of all cores
  double half_tile, half_depth, even, cores;
  double blocks;  ///< tiles that share a core, each at that share of its rate
};
double tiled(const ProductSize& size, const Tile& tile, const TileRates& of) {
  const double tiles = size.count * std::ceil(size.m / tile.m) * std::ceil(size.n / tile.n);
  const double narrow = tile.m / (tile.m + of.half_tile) * (tile.n / (tile.n + of.half_tile));
  return rounds(tiles, of.cores * of.blocks, of.even) * of.blocks * 2 * tile.m * tile.n *
         (size.k + of.half_depth) / (of.rate / of.cores * narrow);
}

constexpr Tile kProductTiles[] = {{256, 128}, {128, 256}, {128, 128}, {64, 256},
                                  {256, 64},  {128, 64},  {64, 128},  {64, 64}};

// The fastest of the tiles, and of splits of a deep product over cores, whose sums are added up.
double product_seconds(DType dtype, std::span<const double> p, const KernelShape& s) {
  const double launch = p[0], bandwidth = p[2], reduction = p[5];
  const TileRates of{p[1], p[3], p[4], p[6], p[7], 1};
  const auto count = static_cast<double>(s[0]), m = static_cast<double>(s[1]);
  const auto n = static_cast<double>(s[2]), k = static_cast<double>(s[3]);
  double best = std::numeric_limits<double>::infinity();
  for (double split : {1.0, 2.0, 4.0, 8.0}) {
    if (split > 1 && k < 64 * split) break;
    const double added = split > 1 ? split * count * m * n * 8 / reduction + 0.3 * launch : 0;
    const ProductSize part{count * split, m, n, up_to(k / split, 32)};
    for (const Tile& tile : kProductTiles) {
      best = std::min(best, tiled(part, tile, of) + added);
    }
  }
  return launch + std::max(best, kernel_bytes(KernelKind::product, dtype, s) / bandwidth);
}

// Blocks of 128 queries by 128 keys, those above the diagonal left out; no head is faster than its
// longest row of blocks on one core. The softmax and the loads do not hide behind products.
double attention_seconds(DType dtype, std::span<const double> p, const KernelShape& s) {
  const double rate = p[1], block = p[3], diagonal = p[4], longest = p[5], cores = p[6];
  constexpr double kBlock = 128;
  const double heads = static_cast<double>(s[0]) * static_cast<double>(s[2]);
  const double rows = std::ceil(static_cast<double>(s[1]) / kBlock);
  const double pair = 4 * static_cast<double>(s[4]) * kBlock * kBlock * cores / rate;
  const double all = heads * rows * ((rows + diagonal) / 2 * pair + block) / cores;
  const double last = (rows * pair + block) * longest;
  const double products = std::sqrt(std::sqrt(std::pow(all, 4) + std::pow(last, 4)));
  return p[0] + products + kernel_bytes(KernelKind::attention, dtype, s) / p[2];
}

double training_seconds(std::span<const double> p, const KernelShape& s) {
  return p[0] + kernel_flops(KernelKind::attention_training, s).value / p[1];
}

constexpr Tile kConvolutionTiles[] = {{128, 128}, {128, 64}, {64, 64},
                                      {128, 32},  {32, 128}, {64, 32}};

double fastest_tiles(const ProductSize& size, const TileRates& of) {
  double best = std::numeric_limits<double>::infinity();
  for (const Tile& tile : kConvolutionTiles) best = std::min(best, tiled(size, tile, of));
  return best;
}

struct ConvolutionSize {
  double batch, in, out, window, output;  ///< window: elements of the kernel
};
ConvolutionSize convolution_size(const KernelShape& s) {
  const double output =
      std::floor(static_cast<double>(s[4] + 2 * s[6] - s[3]) / static_cast<double>(s[5])) + 1;
  return {static_cast<double>(s[0]), static_cast<double>(s[1]), static_cast<double>(s[2]),
          static_cast<double>(s[3]) * static_cast<double>(s[3]), std::max(output, 1.0)};
}

// The fastest of the implicit product and, where it applies, Winograd's F(4x4, 3x3) with its
// transforms as kernels of their own and F(2x2, 3x3) as one kernel whose blocks compute 32 outputs
// of 32 tiles.
double convolution_seconds(DType dtype, std::span<const double> p, const KernelShape& s) {
  const double launch = p[0], bandwidth = p[4], filter_passes = p[7];
  const auto [batch, in, out, window, output] = convolution_size(s);
  const double bytes = kernel_bytes(KernelKind::convolution, dtype, s) / bandwidth;
  TileRates of{p[1], p[5], p[6], p[10], p[11], p[9]};
  const ProductSize implicit{1, batch * output * output, out, in * window};
  double best = std::max(fastest_tiles(implicit, of), bytes);
  if (s[3] == 3 && s[5] == 1) {
    const double filters = static_cast<double>(element_bytes(dtype)) * in * out * filter_passes;
    const double tiles4 = batch * std::pow(std::ceil(output / 4), 2);
    const double moved = static_cast<double>(element_bytes(dtype)) * 72 * tiles4 * (in + out);
    of.rate = p[2];
    best = std::min(best, fastest_tiles({36, tiles4, out, in}, of) + bytes +
                              (moved + 72 * filters) / bandwidth);
    const double tiles2 = batch * std::pow(std::ceil(output / 2), 2);
    const double blocks = std::ceil(tiles2 / 32) * std::ceil(out / 32);
    const double block = 16 * 2 * 32 * 32 * (in + p[6] / 9) / (p[3] / p[11]);
    best = std::min(best, std::max(rounds(blocks, p[11] * p[8], p[10]) * p[8] * block, bytes) +
                              25 * filters / bandwidth);
  }
  return launch + best;
}

double elementwise_seconds(DType dtype, std::span<const double> p, const KernelShape& s) {
  return p[0] + kernel_bytes(KernelKind::elementwise, dtype, s) / p[1];
}

std::vector<double> logarithms(std::span<const std::int64_t> values) {
  std::vector<double> logs;
  logs.reserve(values.size());
  for (std::int64_t value : values) {
    logs.push_back(std::log(static_cast<double>(std::max<std::int64_t>(value, 1))));
  }
  return logs;
}

}  // namespace

Seconds modelled(KernelKind kernel, DType dtype, std::span<const double> parameters,
                 const KernelShape& shape) {
  switch (kernel) {
    case KernelKind::product:
      return {product_seconds(dtype, parameters, shape)};
    case KernelKind::attention:
      return {attention_seconds(dtype, parameters, shape)};
    case KernelKind::attention_training:
      return {training_seconds(parameters, shape)};
    case KernelKind::convolution:
      return {convolution_seconds(dtype, parameters, shape)};
    case KernelKind::elementwise:
      return {elementwise_seconds(dtype, parameters, shape)};
  }
  return {};
}

std::vector<double> first_parameters(KernelKind kernel, const Profile& profile, DType dtype) {
  const auto& own = profile.peaks[static_cast<std::size_t>(dtype)];
  const double rate = (own ? own : profile.peaks[0])->value.value;
  const double bandwidth = profile.bandwidth.value.value;
  const double launch = std::max(profile.efficiency.launch.value.value, 1e-6);
  const auto cores = static_cast<double>(profile.efficiency.cores.value);
  switch (kernel) {
    case KernelKind::product:
      return {launch, 0.9 * rate, 0.8 * bandwidth, 16, 100, 2 * bandwidth, 0.5, cores};
    case KernelKind::attention:
      return {launch, 0.6 * rate, 0.5 * bandwidth, 2e-7, 1, 1, cores};
    case KernelKind::attention_training:
      return {launch, 0.5 * rate};
    case KernelKind::convolution:
      return {launch, 0.8 * rate, 0.9 * rate, 0.6 * rate, 0.7 * bandwidth, 8, 30, 1,
              2,      2,          0.5,        cores};
    case KernelKind::elementwise:
      return {launch, 0.8 * bandwidth};
  }
  return {};
}

Flops kernel_flops(KernelKind kernel, const KernelShape& shape) {
  const auto at = [&](std::size_t i) { return static_cast<double>(shape[i]); };
  switch (kernel) {
    case KernelKind::product:
      return {2 * at(0) * at(1) * at(2) * at(3)};
    case KernelKind::attention:
      return {2 * at(0) * at(1) * (at(1) + 1) * at(2) * at(4)};
    case KernelKind::attention_training:
      return {3.5 * 4 * at(0) * at(1) * at(1) * at(2) * at(4) * (shape[5] != 0 ? 0.5 : 1)};
    case KernelKind::convolution: {
      const auto [batch, in, out, window, output] = convolution_size(shape);
      return {2 * batch * output * output * in * out * window};
    }
    case KernelKind::elementwise:
      return {};
  }
  return {};
}

double kernel_bytes(KernelKind kernel, DType dtype, const KernelShape& shape) {
  const auto at = [&](std::size_t i) { return static_cast<double>(shape[i]); };
  const auto element = static_cast<double>(element_bytes(dtype));
  switch (kernel) {
    case KernelKind::product:
      return element * at(0) * (at(1) * at(3) + at(2) * at(3) + at(1) * at(2));
    case KernelKind::attention:
    case KernelKind::attention_training:
      return element * 2 * at(0) * at(1) * (at(2) + at(3)) * at(4);
    case KernelKind::convolution: {
      const auto [batch, in, out, window, output] = convolution_size(shape);
      return element * (batch * (in * at(4) * at(4) + out * output * output) + in * out * window);
    }
    case KernelKind::elementwise:
      return element * at(0) * at(1);
  }
  return 0;
}

Seconds FittedRoofline::operator()(KernelKind kernel, DType dtype, const KernelShape& shape) const {
  return {launch + std::max(kernel_flops(kernel, shape).value / rate,
                            kernel_bytes(kernel, dtype, shape) / bandwidth)};
}

Coordinates coordinates(KernelKind kernel, const KernelShape& shape) {
  const std::vector<double> log = logarithms(shape);
  const auto at = [&](std::size_t i) { return static_cast<double>(shape[i]); };
  switch (kernel) {
    case KernelKind::product:
      return {log[0], 1.5 * log[1], 1.5 * log[2], 0.7 * log[3], 3 * padding(at(1), 128)};
    case KernelKind::attention:
      return {log[0], log[1], log[2], log[2] - log[3], 2 * log[4]};
    case KernelKind::attention_training:
      return {log[0], log[1], log[2], log[2] - log[3], 2 * log[4], kFar * at(5)};
    case KernelKind::convolution:
      return {log[0],        log[1],        log[2],      2 * log[4], 2 * padding(at(4), 4),
              kFar * log[3], kFar * log[5], kFar * at(6)};
    case KernelKind::elementwise:
      return {log[0] + log[1], 0.3 * log[0]};
  }
  return {};
}

std::size_t used_coordinates(KernelKind kernel) {
  constexpr std::array<std::size_t, kKernels> kUsed = {5, 5, 6, 8, 2};
  return kUsed[static_cast<std::size_t>(kernel)];
}

}  // namespace strata
