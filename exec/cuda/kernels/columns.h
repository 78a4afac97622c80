#pragma once

// Loops over a dense tensor seen as a matrix: a row for each position (n, d, h, w), a column for
// each channel. A thread keeps to one column, or to one pack of neighbouring columns, and takes
// every so-manieth row: what belongs to a channel is read once, and neighbouring threads touch
// neighbouring addresses however few the channels.
//
// sum_columns() reduces rows in two loops without atomics, so always in the same order: the threads
// of a column leave partial results in the seat's scratch, which one thread or a team then joins.

#include <algorithm>

#include "exec/cuda/streams/seat.h"
#include "exec/cuda/tensor/tensor.h"

namespace strata::cuda {

/// Which thread takes what: thread i begins at pack i and goes on by threads() packs.
struct Columns {
  std::int64_t rows = 0, packs = 0;  ///< packs of channels in a row
  std::int64_t splits = 1;           ///< threads of a column

  /// A thread takes at least `rows_each` rows, if there are more than `most` threads then more.
  template <int width, class T>
  static Columns of(const Tensor<T>& tensor, std::int64_t rows_each, std::int64_t most) {
    const std::int64_t rows = tensor.size.positions(), packs = tensor.size.c / width;
    const std::int64_t wanted = std::min(rows / rows_each, most / std::max<std::int64_t>(packs, 1));
    return {rows, packs, std::max<std::int64_t>(wanted, 1)};
  }

  STRATA_ANYWHERE std::int64_t threads() const { return splits * packs; }
  STRATA_ANYWHERE std::int64_t end() const { return rows * packs; }
  /// Of a thread. There are far fewer than 2^32; divisions of 64 bits are slow.
  STRATA_ANYWHERE std::int64_t pack_of(std::int64_t thread) const {
    return static_cast<std::uint32_t>(thread) % static_cast<std::uint32_t>(packs);
  }
  STRATA_ANYWHERE std::int64_t split_of(std::int64_t thread) const {
    return static_cast<std::uint32_t>(thread) / static_cast<std::uint32_t>(packs);
  }
  /// Rows that a split has.
  STRATA_ANYWHERE std::int64_t rows_of(std::int64_t split) const {
    return (rows - split + splits - 1) / splits;
  }
};

/// Enough threads to hide the latency of memory, few enough for their partial results to be small.
inline constexpr std::int64_t kSumThreads = std::int64_t{1} << 16U, kSumRows = 16;
/// Threads that only pass over a tensor.
inline constexpr std::int64_t kPassThreads = std::int64_t{1} << 18U, kPassRows = 4;

/// K sums of each channel of a pack.
template <int K, int width>
struct ColumnSums {
  float of[K][width] = {};

  STRATA_ANYWHERE void operator+=(const ColumnSums& more) {
    for (int k = 0; k < K; ++k) {
      for (int lane = 0; lane < width; ++lane) of[k][lane] += more.of[k][lane];
    }
  }
};

/// `terms.column(pack, first)`, where `first` is the place of the thread's first pack, gives an
/// object whose add(place, sums) adds a row's terms and whose finish(sums, rows) makes of them
/// what is to be kept.
template <class Terms, int K, int width>
struct SumRows {
  Terms terms;
  Columns columns;
  float* partial;  // split, k, channel

  STRATA_ANYWHERE void operator()(std::int64_t thread) const {
    const std::int64_t pack = columns.pack_of(thread), split = columns.split_of(thread);
    const std::int64_t rows = columns.rows_of(split);
    ColumnSums<K, width> sums;
    if (rows > 0) {
      const auto column = terms.column(pack, thread);
      add_rows(column, thread, sums);
      column.finish(sums, rows);
    }
    auto* to = reinterpret_cast<Pack<float, width>*>(partial) + split * K * columns.packs + pack;
    for (int k = 0; k < K; ++k) {
      Pack<float, width> kept;
      for (int lane = 0; lane < width; ++lane) kept.values[lane] = sums.of[k][lane];
      to[k * columns.packs] = kept;
    }
  }

 private:
  // Several chains of additions: their loads are under way together, and sums stay accurate.
  template <class Column>
  STRATA_ANYWHERE void add_rows(const Column& column, std::int64_t place,
                                ColumnSums<K, width>& sums) const {
    constexpr int kChains = width > 4 ? 2 : 4;
    const std::int64_t step = columns.threads(), end = columns.end();
    ColumnSums<K, width> chains[kChains];
    for (; place + (kChains - 1) * step < end; place += kChains * step) {
      for (int k = 0; k < kChains; ++k) column.add(place + k * step, chains[k]);
    }
    for (; place < end; place += step) column.add(place, chains[0]);
    for (int k = 0; k < kChains; ++k) sums += chains[k];
  }
};

/// A team of one thread, where every thread works on an item of its own.
struct Alone {
  STRATA_ANYWHERE int rank() const { return 0; }
  STRATA_ANYWHERE int size() const { return 1; }
  template <class T>
  STRATA_ANYWHERE T sum(T mine) const {
    return mine;
  }
};

template <class Loop>
struct AloneLoop {
  Loop loop;
  STRATA_ANYWHERE void operator()(std::int64_t i) const { loop(Alone(), i); }
};

/// What the splits of a column left.
struct Partials {
  Columns columns;
  const float* partial;
  std::int64_t channels;

  template <int K>
  STRATA_ANYWHERE float at(std::int64_t split, int k, std::int64_t channel) const {
    return partial[(split * K + k) * channels + channel];
  }
};

/// The plain way to join partial sums, which are few: in double precision. `put(channel, sums)`
/// takes K of them.
template <int K, class Put>
struct JoinSums {
  Partials partials;
  Put put;

  template <class AnyTeam>
  STRATA_ANYWHERE void operator()(const AnyTeam& team, std::int64_t channel) const {
    double sums[K] = {};
    for (std::int64_t split = team.rank(); split < partials.columns.splits; split += team.size()) {
      for (int k = 0; k < K; ++k) {
        sums[k] += static_cast<double>(partials.at<K>(split, k, channel));
      }
    }
    float found[K];
    for (int k = 0; k < K; ++k) found[k] = static_cast<float>(team.sum(sums[k]));
    if (team.rank() == 0) put(channel, found);
  }
};

/// Runs both loops. `join(partials)` gives the second: loop(team, channel).
template <int K, int width, class T, class Terms, class Join>
void sum_columns(const Tensor<T>& of, const Terms& terms, const Join& join, Seat& seat) {
  constexpr std::int64_t kMostForOne = 32;  // partial results that a thread joins alone
  const Columns columns = Columns::of<width>(of, kSumRows, kSumThreads);
  const std::int64_t channels = of.size.c;
  const std::int64_t values = columns.splits * K * channels;
  auto* partial =
      static_cast<float*>(seat.scratch(values * static_cast<std::int64_t>(sizeof(float))));
  each(seat.stream(), columns.threads(), SumRows<Terms, K, width>{terms, columns, partial});
  const auto loop = join(Partials{columns, partial, channels});
  if (columns.splits > kMostForOne) return teams(seat.stream(), channels, loop);
  each(seat.stream(), channels, AloneLoop<decltype(loop)>{loop});
}

}  // namespace strata::cuda
