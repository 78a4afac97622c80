#pragma once

// Attention by tiles of queries and keys (Milakov and Gimelshein, "Online normalizer calculation
// for softmax", 2018; Dao, "FlashAttention-2", 2023), in fp32 on the tensors' type:
//   forward   s = q k' scale,   y = softmax(s) v,   kept: log(sum exp(s)) of each query
//   backward  p = exp(s - kept),   ds = p (dy v' - dy . y),
//             dq = ds k scale,   dk = ds' q scale,   dv = p' dy
// A sink takes part in the softmax from the start: exp(sink - kept) of it, to which no value
// belongs. What distances add, they add to s. With a softcap the softmax is of c = cap tanh(s /
// cap), and ds = dc (1 - (c / cap)^2). A block of threads keeps a tile of queries and goes through
// the keys that it sees; for dk and dv it keeps a tile of keys and goes through all queries that
// see it, of every head that these keys serve. Nothing is added by two blocks, so sums have one
// order. Products are plain ones of fp32: no tensor cores.

#include <cmath>
#include <limits>

#include "exec/cuda/kernels/attention_tiles.h"
#include "exec/cuda/kernels/kernels.h"
#include "exec/runtime/dropout_mask.h"

namespace strata::cuda {

/// A shard's heads. Those of keys are counted from the first that the shard has.
struct HeadGroups {
  std::int64_t samples, heads, key_heads;
  std::int64_t first_head, first_key_head;  ///< of the layer's
  std::int64_t group;                       ///< heads of queries that one of keys serves

  STRATA_ANYWHERE std::int64_t key_head_of(std::int64_t head) const {
    return (first_head + head) / group - first_key_head;
  }
  /// The first of the shard's heads that a head of keys serves, and the one after the last.
  STRATA_ANYWHERE std::int64_t begin_of(std::int64_t key_head) const {
    const std::int64_t head = (first_key_head + key_head) * group - first_head;
    return head < 0 ? 0 : head < heads ? head : heads;
  }
};

/// A dropout of the softmaxes' weights, whose places are (n, heads, queries, keys) of the layer, n
/// over the samples of all rounds.
struct WeightDropout {
  LayerDropout dropout{0, LayerId(0), 0};
  const StepState* step = nullptr;  ///< null: all stay
  float scale = 1;
  std::int64_t heads = 0, queries = 0, keys = 0;                                  ///< of the layer
  std::int64_t first_sample = 0, first_head = 0, first_query = 0, first_key = 0;  ///< of the shard

  /// What multiplies a weight, by the shard's numbers.
  STRATA_ANYWHERE float factor(std::int64_t sample, std::int64_t head, std::int64_t query,
                               std::int64_t key) const {
    if (step == nullptr) return 1;
    const std::int64_t row = (first_sample + sample) * heads + first_head + head;
    const std::int64_t place = (row * queries + first_query + query) * keys + first_key + key;
    return dropout.mask(step->step).keeps(place) ? scale : 0;
  }
};

/// What a shard's heads have beside their products.
struct ScoreParameters {
  const float* sinks = nullptr;  ///< by head; null: none
  const float* by_distance =
      nullptr;  ///< by head, then from the last query's first key on; or null
  std::int64_t queries = 0, distances = 0;  ///< distances: of a head

  STRATA_ANYWHERE float added(std::int64_t head, std::int64_t query, std::int64_t key) const {
    if (by_distance == nullptr || query >= queries || key > distances - queries) return 0;
    return by_distance[head * distances + queries - 1 + key - query];
  }
};

template <class T>
struct AttentionTensors {
  SeenKeys seen;
  HeadGroups groups;
  Heads<const T> q, k, v;
  float scale;
  float softcap;    ///< 0: none
  float* log_sums;  ///< by sample, head, position; or null
  WeightDropout dropout;
  ScoreParameters parameters = {};

  /// What the softmax takes of a product.
  STRATA_ANYWHERE float score_of(float product, std::int64_t head, std::int64_t query,
                                 std::int64_t key) const {
    const float added = parameters.added(head, query, key);
    return softcap > 0 ? softcap * std::tanh(product / softcap) : product + added;
  }
  /// By which a score changes a capped one.
  STRATA_ANYWHERE float slope_of(float capped_score) const {
    const float share = softcap > 0 ? capped_score / softcap : 0;
    return 1 - share * share;
  }
  /// Of a head of queries.
  STRATA_ANYWHERE std::int64_t row_of(std::int64_t sample, std::int64_t head) const {
    return (sample * groups.heads + head) * seen.queries;
  }
};

/// An item's tile of one head of one sample. The last tiles come first: causal queries there see
/// most keys.
struct TileItem {
  std::int64_t sample, head, first, end;

  STRATA_ANYWHERE TileItem(std::int64_t item, std::int64_t heads, std::int64_t samples,
                           std::int64_t positions, int rows) {
    const Quotient tile(item, heads * samples), place(tile.rest, heads);
    const std::int64_t tiles = (positions + rows - 1) / rows;
    sample = place.whole, head = place.rest;
    first = (tiles - 1 - tile.whole) * rows;
    end = first + rows < positions ? first + rows : positions;
  }
  static std::int64_t count(std::int64_t heads, std::int64_t samples, std::int64_t positions,
                            int rows) {
    return (positions + rows - 1) / rows * heads * samples;
  }
};

template <class T, class Sizes>
struct AttendLoop {
  AttentionTensors<T> of;
  Heads<T> y;

  static constexpr std::int64_t kMemory =
      Sizes::kKeptFloats + 2 * Sizes::kPassingFloats + Sizes::kWeightFloats;

  template <class Thread>
  STRATA_ANYWHERE void operator()(const Thread& thread, std::int64_t i) const {
    const TileItem item(i, of.groups.heads, of.groups.samples, of.seen.queries, Sizes::kKept);
    const std::int64_t key_head = of.groups.key_head_of(item.head);
    const HeadRows<const T> keys = of.k.head(item.sample, key_head),
                            values = of.v.head(item.sample, key_head);
    float *const q = thread.memory(), *const k = q + Sizes::kKeptFloats,
                 *const v = k + Sizes::kPassingFloats, *const weights = v + Sizes::kPassingFloats;
    read_tile<Sizes>(thread, q, Sizes::kKept, of.q.head(item.sample, item.head), item.first,
                     item.end, of.scale);
    float sums[Sizes::kRows][Sizes::kOwnChannels] = {}, most[Sizes::kRows], total[Sizes::kRows];
    for (int r = 0; r < Sizes::kRows; ++r) {
      const bool sinks = of.parameters.sinks != nullptr;
      most[r] = sinks ? of.parameters.sinks[item.head] : -std::numeric_limits<float>::infinity();
      total[r] = sinks ? 1 : 0;
    }
    const SeenKeys::Range range = of.seen.keys_of(item.first, item.end);
    for (std::int64_t first = range.begin; first < range.end; first += Sizes::kPassing) {
      thread.sync();  // the tiles before have been read
      read_tile<Sizes>(thread, k, Sizes::kPassing, keys, first, range.end);
      read_tile<Sizes>(thread, v, Sizes::kPassing, values, first, range.end);
      thread.sync();
      float s[Sizes::kRows][Sizes::kColumns];
      multiply_rows<Sizes>(thread, q, k, s);
      for (int r = 0; r < Sizes::kRows; ++r) {
        normalize(thread, item, item.first + thread.row() + r * Sizes::kSide, first, s[r], most[r],
                  total[r], sums[r]);
      }
      write_weights<Sizes>(thread, weights, s);
      thread.sync();
      add_weighed<Sizes>(thread, weights, v, sums);
    }
    finish(thread, item, most, total, sums);
  }

 private:
  /// s = exp(s - the largest so far), with which the sums so far are made to agree.
  template <class Thread>
  STRATA_ANYWHERE void normalize(const Thread& thread, const TileItem& item, std::int64_t query,
                                 std::int64_t first_key, float (&s)[Sizes::kColumns], float& most,
                                 float& total, float (&sums)[Sizes::kOwnChannels]) const {
    constexpr float kNone = -std::numeric_limits<float>::infinity();
    float largest = most;
    for (int c = 0; c < Sizes::kColumns; ++c) {
      const std::int64_t key = first_key + thread.column() + c * Sizes::kSide;
      s[c] = of.seen.sees(query, key) ? of.score_of(s[c], item.head, query, key) : kNone;
      largest = s[c] > largest ? s[c] : largest;
    }
    largest = thread.row_largest(largest);
    float part = 0;
    for (int c = 0; c < Sizes::kColumns; ++c) {
      s[c] = s[c] == kNone ? 0 : std::exp(s[c] - largest);
      part += s[c];
      s[c] *= of.dropout.factor(item.sample, item.head, query,
                                first_key + thread.column() + c * Sizes::kSide);
    }
    const float shrunk = most == kNone ? 0 : std::exp(most - largest);
    total = total * shrunk + thread.row_sum(part);
    most = largest;
    for (float& sum : sums) sum *= shrunk;
  }

  template <class Thread>
  STRATA_ANYWHERE void finish(const Thread& thread, const TileItem& item,
                              const float (&most)[Sizes::kRows], const float (&total)[Sizes::kRows],
                              float (&sums)[Sizes::kRows][Sizes::kOwnChannels]) const {
    for (int r = 0; r < Sizes::kRows; ++r) {
      const std::int64_t query = item.first + thread.row() + r * Sizes::kSide;
      for (float& sum : sums[r]) sum /= total[r];
      if (of.log_sums == nullptr || query >= item.end || thread.column() != 0) continue;
      of.log_sums[of.row_of(item.sample, item.head) + query] = most[r] + std::log(total[r]);
    }
    write_rows<Sizes>(thread, y.head(item.sample, item.head), item.first, item.end, 1, sums);
  }
};

template <class T>
struct AttentionGradients {
  Heads<const T> dy;
  const float* dy_y;  ///< the product of each query's output and its gradient, as the log_sums lie
  Heads<T> dq, dk, dv;
};

/// dy . y of every query of every head.
template <class T>
struct OutputProducts {
  HeadGroups groups;
  std::int64_t queries;
  Heads<const T> y, dy;
  float* to;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const Quotient head(i, groups.heads), sample(head.whole, queries);
    const HeadRows<const T> a = y.head(sample.whole, head.rest),
                            b = dy.head(sample.whole, head.rest);
    float sum = 0;
    for (int channel = 0; channel < a.channels; ++channel) {
      sum += static_cast<float>(a.data[sample.rest * a.step + channel]) *
             static_cast<float>(b.data[sample.rest * b.step + channel]);
    }
    to[(sample.whole * groups.heads + head.rest) * queries + sample.rest] = sum;
  }
};

/// dq
template <class T, class Sizes>
struct QueryGradientLoop {
  AttentionTensors<T> of;
  AttentionGradients<T> gradients;

  static constexpr std::int64_t kMemory =
      2 * Sizes::kKeptFloats + 2 * Sizes::kPassingFloats + Sizes::kWeightFloats;

  template <class Thread>
  STRATA_ANYWHERE void operator()(const Thread& thread, std::int64_t i) const {
    const TileItem item(i, of.groups.heads, of.groups.samples, of.seen.queries, Sizes::kKept);
    const std::int64_t key_head = of.groups.key_head_of(item.head);
    const HeadRows<const T> keys = of.k.head(item.sample, key_head),
                            values = of.v.head(item.sample, key_head);
    float *const q = thread.memory(), *const dy = q + Sizes::kKeptFloats,
                 *const k = dy + Sizes::kKeptFloats, *const v = k + Sizes::kPassingFloats,
                 *const weights = v + Sizes::kPassingFloats;
    read_tile<Sizes>(thread, q, Sizes::kKept, of.q.head(item.sample, item.head), item.first,
                     item.end, of.scale);
    read_tile<Sizes>(thread, dy, Sizes::kKept, gradients.dy.head(item.sample, item.head),
                     item.first, item.end);
    float sums[Sizes::kRows][Sizes::kOwnChannels] = {};
    const SeenKeys::Range range = of.seen.keys_of(item.first, item.end);
    for (std::int64_t first = range.begin; first < range.end; first += Sizes::kPassing) {
      thread.sync();
      read_tile<Sizes>(thread, k, Sizes::kPassing, keys, first, range.end);
      read_tile<Sizes>(thread, v, Sizes::kPassing, values, first, range.end);
      thread.sync();
      float s[Sizes::kRows][Sizes::kColumns], dp[Sizes::kRows][Sizes::kColumns];
      multiply_rows<Sizes>(thread, q, k, s);
      multiply_rows<Sizes>(thread, dy, v, dp);
      differentiate(thread, item, first, s, dp);
      write_weights<Sizes>(thread, weights, s);
      thread.sync();
      add_weighed<Sizes>(thread, weights, k, sums);
    }
    write_rows<Sizes>(thread, gradients.dq.head(item.sample, item.head), item.first, item.end,
                      of.scale, sums);
  }

 private:
  /// s = ds
  template <class Thread>
  STRATA_ANYWHERE void differentiate(const Thread& thread, const TileItem& item,
                                     std::int64_t first_key,
                                     float (&s)[Sizes::kRows][Sizes::kColumns],
                                     const float (&dp)[Sizes::kRows][Sizes::kColumns]) const {
    for (int r = 0; r < Sizes::kRows; ++r) {
      const std::int64_t query = item.first + thread.row() + r * Sizes::kSide;
      const bool is_there = query < item.end;
      const std::int64_t at = of.row_of(item.sample, item.head) + query;
      const float log_sum = is_there ? of.log_sums[at] : 0;
      const float dy_y = is_there ? gradients.dy_y[at] : 0;
      for (int c = 0; c < Sizes::kColumns; ++c) {
        const std::int64_t key = first_key + thread.column() + c * Sizes::kSide;
        const float score = of.score_of(s[r][c], item.head, query, key);
        const float p = of.seen.sees(query, key) ? std::exp(score - log_sum) : 0;
        const float kept = of.dropout.factor(item.sample, item.head, query, key);
        s[r][c] = p * (dp[r][c] * kept - dy_y) * of.slope_of(score);
      }
    }
  }
};

/// dk and dv. Keys are the tile that stays, queries pass.
template <class T, class Sizes>
struct KeyGradientLoop {
  AttentionTensors<T> of;
  AttentionGradients<T> gradients;

  static constexpr std::int64_t kMemory = QueryGradientLoop<T, Sizes>::kMemory;

  template <class Thread>
  STRATA_ANYWHERE void operator()(const Thread& thread, std::int64_t i) const {
    const TileItem item(i, of.groups.key_heads, of.groups.samples, of.seen.keys, Sizes::kKept);
    Sums dk = {}, dv = {};
    float *const k = thread.memory(), *const v = k + Sizes::kKeptFloats;
    read_tile<Sizes>(thread, k, Sizes::kKept, of.k.head(item.sample, item.head), item.first,
                     item.end);
    read_tile<Sizes>(thread, v, Sizes::kKept, of.v.head(item.sample, item.head), item.first,
                     item.end);
    const std::int64_t end = of.groups.begin_of(item.head + 1);
    for (std::int64_t head = of.groups.begin_of(item.head); head < end; ++head) {
      add_head(thread, item, head, dk, dv);
    }
    if (gradients.dk.tensor.data != nullptr) {
      write_rows<Sizes>(thread, gradients.dk.head(item.sample, item.head), item.first, item.end, 1,
                        dk);
    }
    if (gradients.dv.tensor.data != nullptr) {
      write_rows<Sizes>(thread, gradients.dv.head(item.sample, item.head), item.first, item.end, 1,
                        dv);
    }
  }

 private:
  using Sums = float[Sizes::kRows][Sizes::kOwnChannels];

  template <class Thread>
  STRATA_ANYWHERE void add_head(const Thread& thread, const TileItem& item, std::int64_t head,
                                Sums& dk, Sums& dv) const {
    const float *const k = thread.memory(), *const v = k + Sizes::kKeptFloats;
    float *const q = thread.memory() + 2 * Sizes::kKeptFloats,
                 *const dy = q + Sizes::kPassingFloats, *const weights = dy + Sizes::kPassingFloats;
    const HeadRows<const T> queries = of.q.head(item.sample, head),
                            of_output = gradients.dy.head(item.sample, head);
    const SeenKeys::Range range = of.seen.queries_of(item.first, item.end);
    for (std::int64_t first = range.begin; first < range.end; first += Sizes::kPassing) {
      thread.sync();
      read_tile<Sizes>(thread, q, Sizes::kPassing, queries, first, range.end, of.scale);
      read_tile<Sizes>(thread, dy, Sizes::kPassing, of_output, first, range.end);
      thread.sync();
      float p[Sizes::kRows][Sizes::kColumns], ds[Sizes::kRows][Sizes::kColumns];
      multiply_rows<Sizes>(thread, k, q, p);
      multiply_rows<Sizes>(thread, v, dy, ds);
      differentiate(thread, item, head, first, p, ds);
      write_weights<Sizes>(thread, weights, p);
      thread.sync();
      add_weighed<Sizes>(thread, weights, dy, dv);
      thread.sync();
      write_weights<Sizes>(thread, weights, ds);
      thread.sync();
      add_weighed<Sizes>(thread, weights, q, dk);
    }
  }

  /// Of p, the products q k'; of ds, the products dy v'.
  template <class Thread>
  STRATA_ANYWHERE void differentiate(const Thread& thread, const TileItem& item, std::int64_t head,
                                     std::int64_t first_query,
                                     float (&p)[Sizes::kRows][Sizes::kColumns],
                                     float (&ds)[Sizes::kRows][Sizes::kColumns]) const {
    const std::int64_t row = of.row_of(item.sample, head);
    for (int c = 0; c < Sizes::kColumns; ++c) {
      const std::int64_t query = first_query + thread.column() + c * Sizes::kSide;
      const bool is_there = query < of.seen.queries;
      const float log_sum = is_there ? of.log_sums[row + query] : 0;
      const float dy_y = is_there ? gradients.dy_y[row + query] : 0;
      for (int r = 0; r < Sizes::kRows; ++r) {
        const std::int64_t key = item.first + thread.row() + r * Sizes::kSide;
        const float score = of.score_of(p[r][c], head, query, key);
        p[r][c] = of.seen.sees(query, key) ? std::exp(score - log_sum) : 0;
        const float kept = of.dropout.factor(item.sample, head, query, key);
        ds[r][c] = p[r][c] * (ds[r][c] * kept - dy_y) * of.slope_of(score);
        p[r][c] *= kept;
      }
    }
  }
};

}  // namespace strata::cuda
