#pragma once

// Which queries see which keys, and products of tiles of rows in memory that threads share: the
// parts of which attention.cu makes its loops. A tile holds a head's channels at some positions, a
// row for each, in fp32, filled up with zeros. An item's threads keep one tile and go through the
// others, so no matrix of all queries and keys is ever there.

#include <cstdint>

#include "exec/cuda/device/tile_launch.h"
#include "exec/cuda/tensor/tensor.h"

namespace strata::cuda {

/// Of heads of up to `channels`: 32, 64, 128 or 256. By side x side threads.
template <int channels, int side = kTileSide>
struct TileSizes {
  static constexpr int kSide = side;
  static constexpr int kChannels = channels;
  static constexpr int kKept = channels <= 64 ? 64 : 4096 / channels;  ///< rows that stay
  static constexpr int kPassing = channels <= 64 ? 32 : 16;            ///< rows one after another
  // Rows begin in different banks.
  static constexpr int kStep = channels + 4, kWeightStep = kPassing + 4;
  static constexpr int kKeptFloats = kKept * kStep, kPassingFloats = kPassing * kStep;
  static constexpr int kWeightFloats = kKept * kWeightStep;

  // What a thread has: rows of the kept tile, rows of the passing one, channels.
  static constexpr int kRows = kKept / side;
  static constexpr int kColumns = kPassing / side;
  static constexpr int kOwnChannels = channels / side;
  static constexpr int kWidth = channels / 16 < 4 ? channels / 16 : 4;  ///< neighbouring ones
};

/// The positions of a shard, counted from its first query and from the first key that it has.
struct SeenKeys {
  std::int64_t queries = 0, keys = 0;
  std::int64_t offset = 0;  ///< of the first query, among the keys
  bool causal = false;
  std::int64_t window = 0;  ///< 0: none

  STRATA_ANYWHERE bool sees(std::int64_t query, std::int64_t key) const {
    if (query >= queries || key >= keys) return false;
    if (!causal) return true;
    const std::int64_t own = query + offset;
    return key <= own && (window == 0 || key > own - window);
  }
  struct Range {
    std::int64_t begin, end;
  };
  /// The keys that queries [first, end) see, and perhaps more.
  STRATA_ANYWHERE Range keys_of(std::int64_t first, std::int64_t end) const {
    if (!causal) return {0, keys};
    return {window == 0 ? 0 : clipped(first + offset - window + 1, keys),
            clipped(end + offset, keys)};
  }
  /// The queries that see keys [first, end), and perhaps more.
  STRATA_ANYWHERE Range queries_of(std::int64_t first, std::int64_t end) const {
    if (!causal) return {0, queries};
    return {clipped(first - offset, queries),
            window == 0 ? queries : clipped(end - 1 + window - offset, queries)};
  }

 private:
  STRATA_ANYWHERE static std::int64_t clipped(std::int64_t place, std::int64_t most) {
    return place < 0 ? 0 : place < most ? place : most;
  }
};

/// One head of one sample: its channels at position p begin at data + p step.
template <class T>
struct HeadRows {
  T* data;
  std::int64_t step;
  int channels;
};

/// The heads of a shard in a tensor that may have more.
template <class T>
struct Heads {
  Tensor<T> tensor;
  Places first;  ///< where the first sample's first head begins
  int channels;

  STRATA_ANYWHERE HeadRows<T> head(std::int64_t sample, std::int64_t number) const {
    Places at = first;
    at.n += sample, at.c += number * channels;
    return {tensor.data + tensor.size.place(at), tensor.size.c, channels};
  }
  explicit operator bool() const { return static_cast<bool>(tensor); }
};

/// tile = `rows` positions from `first` on, zeros from `end` on, times `scale`.
template <class Sizes, class Thread, class T>
STRATA_ANYWHERE void read_tile(const Thread& thread, float* tile, int rows, const HeadRows<T>& head,
                               std::int64_t first, std::int64_t end, float scale = 1) {
  for (int i = thread.rank(); i < rows * Sizes::kChannels; i += thread.size()) {
    const int row = i / Sizes::kChannels, channel = i % Sizes::kChannels;
    const bool is_there = first + row < end && channel < head.channels;
    const T* from = head.data + (first + row) * head.step + channel;
    tile[row * Sizes::kStep + channel] = is_there ? static_cast<float>(*from) * scale : 0.0F;
  }
}

/// products[r][c] = the product of the thread's row r of the kept tile and row c of the passing
/// one.
template <class Sizes, class Thread>
STRATA_ANYWHERE void multiply_rows(const Thread& thread, const float* kept, const float* passing,
                                   float (&products)[Sizes::kRows][Sizes::kColumns]) {
  using Four = Pack<float, 4>;
  constexpr int kSide = Sizes::kSide;
  const float* const left = kept + thread.row() * Sizes::kStep;
  const float* const right = passing + thread.column() * Sizes::kStep;
  for (auto& row : products) {
    for (float& product : row) product = 0;
  }
  for (int channel = 0; channel < Sizes::kChannels; channel += 4) {
    Four b[Sizes::kColumns];
    for (int c = 0; c < Sizes::kColumns; ++c) {
      b[c] = *reinterpret_cast<const Four*>(right + c * kSide * Sizes::kStep + channel);
    }
    for (int r = 0; r < Sizes::kRows; ++r) {
      const Four a = *reinterpret_cast<const Four*>(left + r * kSide * Sizes::kStep + channel);
      for (int c = 0; c < Sizes::kColumns; ++c) {
        for (int k = 0; k < 4; ++k) products[r][c] += a.values[k] * b[c].values[k];
      }
    }
  }
}

/// Of a weight for each pair of rows, the thread's part for all.
template <class Sizes, class Thread>
STRATA_ANYWHERE void write_weights(const Thread& thread, float* weights,
                                   const float (&values)[Sizes::kRows][Sizes::kColumns]) {
  constexpr int kSide = Sizes::kSide;
  for (int r = 0; r < Sizes::kRows; ++r) {
    for (int c = 0; c < Sizes::kColumns; ++c) {
      weights[(thread.row() + r * kSide) * Sizes::kWeightStep + thread.column() + c * kSide] =
          values[r][c];
    }
  }
}

/// The channel of a head that is a thread's own number k.
template <class Sizes, class Thread>
STRATA_ANYWHERE int own_channel(const Thread& thread, int k) {
  const int run = k / Sizes::kWidth;
  return (thread.column() + run * Sizes::kSide) * Sizes::kWidth + k % Sizes::kWidth;
}

/// sums[r] += the rows of the passing tile, weighed by the weights of the thread's row r.
template <class Sizes, class Thread>
STRATA_ANYWHERE void add_weighed(const Thread& thread, const float* weights, const float* passing,
                                 float (&sums)[Sizes::kRows][Sizes::kOwnChannels]) {
  using Four = Pack<float, 4>;
  using Run = Pack<float, Sizes::kWidth>;
  constexpr int kSide = Sizes::kSide;
  const float* const own = weights + thread.row() * Sizes::kWeightStep;
  for (int row = 0; row < Sizes::kPassing; row += 4) {
    Four by[Sizes::kRows];
    for (int r = 0; r < Sizes::kRows; ++r) {
      by[r] = *reinterpret_cast<const Four*>(own + r * kSide * Sizes::kWeightStep + row);
    }
    for (int j = 0; j < 4; ++j) {
      const float* const from = passing + (row + j) * Sizes::kStep;
      for (int k = 0; k < Sizes::kOwnChannels; k += Sizes::kWidth) {
        const Run run = *reinterpret_cast<const Run*>(from + own_channel<Sizes>(thread, k));
        for (int r = 0; r < Sizes::kRows; ++r) {
          for (int lane = 0; lane < Sizes::kWidth; ++lane) {
            sums[r][k + lane] += by[r].values[j] * run.values[lane];
          }
        }
      }
    }
  }
}

/// The thread's sums of the tile from position `first` on, times `scale`, into a head's rows.
template <class Sizes, class Thread, class T>
STRATA_ANYWHERE void write_rows(const Thread& thread, const HeadRows<T>& head, std::int64_t first,
                                std::int64_t end, float scale,
                                const float (&sums)[Sizes::kRows][Sizes::kOwnChannels]) {
  for (int r = 0; r < Sizes::kRows; ++r) {
    const std::int64_t row = first + thread.row() + r * Sizes::kSide;
    if (row >= end) continue;
    for (int k = 0; k < Sizes::kOwnChannels; ++k) {
      const int channel = own_channel<Sizes>(thread, k);
      if (channel < head.channels) head.data[row * head.step + channel] = T(sums[r][k] * scale);
    }
  }
}

}  // namespace strata::cuda
