#pragma once

// Gradients of what an attention's heads have beside their products (attention_loops.h): of a sink
// that of its share of each softmax, of a number for distances the sum of ds over the pairs of
// queries and keys that far apart, made anew from q, k, v and dy. A team takes a head, or a head's
// distance, so sums have one order.

#include "exec/cuda/kernels/attention_loops.h"

namespace strata::cuda {

struct SinkGradients {
  HeadGroups groups;
  std::int64_t queries;
  const float *sinks, *log_sums, *dy_y;
  float* to;
  bool adds;

  STRATA_ANYWHERE void operator()(const Team& team, std::int64_t head) const {
    float sum = 0;
    for (std::int64_t i = team.rank(); i < groups.samples * queries; i += team.size()) {
      const Quotient sample(i, queries);
      const std::int64_t at = (sample.whole * groups.heads + head) * queries + sample.rest;
      sum += std::exp(sinks[head] - log_sums[at]) * dy_y[at];
    }
    sum = team.sum(sum);
    if (team.rank() == 0) to[head] = (adds ? to[head] : 0) - sum;
  }
};

/// Of each head, what the numbers of buckets make of its distances.
struct SpreadBuckets {
  const float* rows;            ///< by head, then bucket
  const std::int32_t* buckets;  ///< by distance
  std::int64_t row, distances;
  float* to;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const Quotient head(i, distances);
    to[i] = rows[head.whole * row + buckets[head.rest]];
  }
};

template <class T>
struct DistanceGradients {
  AttentionTensors<T> of;
  AttentionGradients<T> gradients;
  float* to;  ///< by head, then distance

  STRATA_ANYWHERE void operator()(const Team& team, std::int64_t i) const {
    const Quotient head(i, of.parameters.distances);
    const std::int64_t apart = head.rest - (of.seen.queries - 1);
    float sum = 0;
    for (std::int64_t k = team.rank(); k < of.groups.samples * of.seen.queries; k += team.size()) {
      const Quotient sample(k, of.seen.queries);
      const std::int64_t key = sample.rest + apart;
      if (key >= 0 && of.seen.sees(sample.rest, key)) {
        sum += of_score(sample.whole, head.whole, sample.rest, key);
      }
    }
    sum = team.sum(sum);
    if (team.rank() == 0) to[i] = sum;
  }

 private:
  STRATA_ANYWHERE float of_score(std::int64_t sample, std::int64_t head, std::int64_t query,
                                 std::int64_t key) const {
    const std::int64_t key_head = of.groups.key_head_of(head), at = of.row_of(sample, head) + query;
    const float product =
        of.scale * row_product(of.q.head(sample, head), query, of.k.head(sample, key_head), key);
    const float dp =
        row_product(gradients.dy.head(sample, head), query, of.v.head(sample, key_head), key);
    const float p = std::exp(of.score_of(product, head, query, key) - of.log_sums[at]);
    return p * (dp * of.dropout.factor(sample, head, query, key) - gradients.dy_y[at]);
  }
  STRATA_ANYWHERE static float row_product(const HeadRows<const T>& a, std::int64_t row,
                                           const HeadRows<const T>& b, std::int64_t other) {
    float sum = 0;
    for (int channel = 0; channel < a.channels; ++channel) {
      sum += static_cast<float>(a.data[row * a.step + channel]) *
             static_cast<float>(b.data[other * b.step + channel]);
    }
    return sum;
  }
};

/// Of each head and bucket, the sum over its distances.
struct SumBuckets {
  const float* by_distance;
  const std::int32_t* buckets;
  std::int64_t row, distances;
  float* to;
  bool adds;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const Quotient head(i, row);
    float sum = adds ? to[i] : 0;
    for (std::int64_t k = 0; k < distances; ++k) {
      sum += buckets[k] == head.rest ? by_distance[head.whole * distances + k] : 0;
    }
    to[i] = sum;
  }
};

}  // namespace strata::cuda
