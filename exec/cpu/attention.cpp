// A shard of an attention, head by head: queries, keys and values are packed, so that each product
// reads them side by side, and no matrix of queries and keys is ever whole.

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "exec/cpu/attention_heads.h"
#include "exec/cpu/block_products.h"
#include "exec/cpu/kernels.h"
#include "exec/cpu/move.h"
#include "exec/cpu/onednn.h"
#include "exec/runtime/dropout_mask.h"

namespace strata::cpu {
namespace {

/// ScratchParts of one scratch.
class ScratchParts {
 public:
  explicit ScratchParts(std::int64_t size)
      : next_(scratch(Scratch::heads, static_cast<std::size_t>(size))) {}
  float* take(std::int64_t size) {
    float* const part = next_;
    next_ += size;
    return part;
  }

 private:
  float* next_;
};

/// Of the weights of one head, whose places are (n, heads, queries, keys) of the whole layer.
class HeadDropout final : public WeightDropout {
 public:
  /// Of a step.
  HeadDropout(const DropoutMask& mask, double probability, std::int64_t whole_keys)
      : mask_(mask), scale_(static_cast<float>(1 / (1 - probability))), whole_keys_(whole_keys) {}

  /// `first`: the place of the shard's first query and key.
  void begin_head(std::int64_t first) { first_ = first; }

  void apply(float* weights, std::int64_t stride, std::int64_t keys, std::int64_t query,
             std::int64_t key) const override {
    const std::int64_t lanes = vector_block(), place = first_ + query * whole_keys_ + key;
    for (std::int64_t j = 0; j < keys; ++j) {
      float& weight = weights[j / lanes * stride + j % lanes];
      weight = mask_.keeps(place + j) ? weight * scale_ : 0;
    }
  }

 private:
  DropoutMask mask_;
  float scale_;
  std::int64_t whole_keys_, first_ = 0;
};

class AttentionKernel : public PhasedKernel {
 public:
  AttentionKernel(const ShardSpec& spec, const Attention& op)
      : size_(op.head_size),
        own_size_(op.own_key_size()),
        value_size_(op.output_size()),
        output_(spec.output),
        queries_(spec.inputs[0][0]),
        keys_(spec.inputs[1][0]),
        values_(spec.inputs[2][0]),
        shared_(op.shared_size > 0 ? spec.inputs[3][0] : Box{}),
        scale_(static_cast<float>(op.score_scale())),
        turn_queries_(op.rotary, op.turned(), output_[Dim::w]),
        turn_keys_(op.rotary, op.turned(), keys_[Dim::w]),
        samples_((*spec).output[Dim::n]),
        heads_((*spec).output[Dim::c] / value_size_),
        group_(heads_ / (input(spec, 1)[Dim::c] / own_size_)),
        whole_queries_((*spec).output[Dim::w]),
        whole_keys_(input(spec, 1)[Dim::w]),
        probability_(spec.training ? op.dropout : 0),
        dropout_(spec.seed, spec.layer, op.dropout),
        sinks_(op.sinks) {
    shape_.queries = output_[Dim::w].size();
    shape_.keys = keys_[Dim::w].size();
    shape_.channels = packed_size(1, size_);
    shape_.value_channels = packed_size(1, value_size_);
    shape_.causal = op.causal;
    shape_.window = op.window;
    shape_.softcap = static_cast<float>(op.softcap);
    shape_.last_key = output_[Dim::w].begin - keys_[Dim::w].begin;
    for (std::int64_t i = 0; op.buckets > 0 && i < shape_.queries + shape_.keys - 1; ++i) {
      const std::int64_t query = output_[Dim::w].end - 1;
      buckets_.push_back(op.bucket_of(keys_[Dim::w].begin + i - query));
    }
    row_ = op.sinks ? 1 : op.buckets;
    by_distance_.resize(buckets_.size());
  }

 private:
  static const Extents& input(const ShardSpec& spec, std::size_t k) {
    return (*spec.graph)[(*spec).inputs[k]].output;
  }

  /// By the number of a head, of so many channels, among all of the layer's.
  HeadPlace place_in(const Box& box, std::int64_t n, std::int64_t head, std::int64_t size) const {
    return {output_[Dim::n].begin + n - box[Dim::n].begin, head * size - box[Dim::c].begin,
            output_[Dim::w].begin - box[Dim::w].begin, shape_.queries, size};
  }
  HeadPlace query_place(const Box& box, std::int64_t n, std::int64_t head) const {
    return place_in(box, n, head, size_);
  }
  HeadPlace output_place(std::int64_t n, std::int64_t head) const {
    return place_in(output_, n, head, value_size_);
  }
  HeadPlace of_keys(const Box& box, std::int64_t n, std::int64_t head, std::int64_t size) const {
    return {output_[Dim::n].begin + n - box[Dim::n].begin, head * size - box[Dim::c].begin, 0,
            shape_.keys, size};
  }
  HeadPlace key_place(std::int64_t n, std::int64_t head) const {
    return of_keys(keys_, n, head, own_size_);
  }
  HeadPlace value_place(std::int64_t n, std::int64_t head) const {
    return of_keys(values_, n, head, value_size_);
  }
  /// What all heads of a sample share, behind the channels of their own.
  HeadPlace shared_place(std::int64_t n) const {
    HeadPlace place = of_keys(shared_, n, 0, size_ - own_size_);
    place.behind = own_size_;
    return place;
  }
  bool shares() const { return own_size_ < size_; }
  /// Where the shard's saved sums of a head of queries are.
  float* log_sums(float* saved, std::int64_t n, std::int64_t head) const {
    const Interval heads = own_heads();
    return saved + (n * heads.size() + head - heads.begin) * shape_.queries;
  }
  Interval own_heads() const {
    return {output_[Dim::c].begin / value_size_, output_[Dim::c].end / value_size_};
  }
  Interval own_key_heads() const {
    return {keys_[Dim::c].begin / own_size_, keys_[Dim::c].end / own_size_};
  }
  /// Calls visit(n, head of keys, the heads of queries of this shard that it serves).
  template <class Visit>
  void each_key_head(const Visit& visit) const {
    for (std::int64_t n = 0; n < output_[Dim::n].size(); ++n) {
      for (std::int64_t k = own_key_heads().begin; k < own_key_heads().end; ++k) {
        visit(n, k, intersect(own_heads(), {k * group_, (k + 1) * group_}));
      }
    }
  }

  std::int64_t query_floats() const { return packed_size(shape_.queries, size_); }
  std::int64_t output_floats() const { return packed_size(shape_.queries, value_size_); }
  std::int64_t key_floats() const { return packed_size(shape_.keys, size_); }
  std::int64_t value_floats() const { return packed_size(shape_.keys, value_size_); }
  /// Of keys, or of values.
  std::int64_t transposed_floats(std::int64_t size) const {
    return transpose_head(nullptr, nullptr, shape_.keys, size);
  }

  HeadDropout dropout_of(const Operands& operands) const {
    return {dropout_.mask(operands.step != nullptr ? operands.step->step : 0), probability_,
            whole_keys_};
  }
  /// Where the weights of the shard's first query and key of a head have their place.
  std::int64_t first_weight(const Operands& operands, std::int64_t n, std::int64_t head) const {
    const std::int64_t before = operands.step != nullptr ? operands.step->round * samples_ : 0;
    const std::int64_t sample = before + output_[Dim::n].begin + n, query = output_[Dim::w].begin;
    return ((sample * heads_ + head) * whole_queries_ + query) * whole_keys_ + keys_[Dim::w].begin;
  }

  std::int64_t parameters() const { return own_heads().size() * row_; }
  /// What the head's scores have beside their products, as its parameters say.
  void add_parameters(AttentionHead& head, const Operands& operands, std::int64_t number) {
    if (row_ == 0) return;
    const float* const row = operands.parameters + (number - own_heads().begin) * row_;
    if (sinks_) head.sink = *row;
    if (buckets_.empty()) return;
    for (std::size_t i = 0; i < buckets_.size(); ++i) by_distance_[i] = row[buckets_[i]];
    head.by_distance = by_distance_.data() + shape_.queries - 1;
  }

  void forward(const Operands& operands) override {
    HeadDropout dropout = dropout_of(operands);
    const Tensor q(operands.inputs[0]), v(operands.inputs[2]), y(operands.output);
    ScratchParts parts(query_floats() + output_floats() + key_floats() + value_floats() +
                       transposed_floats(size_) + kAttentionWorkspace + shape_.queries);
    float *const queries = parts.take(query_floats()), *const result = parts.take(output_floats());
    float *const keys = parts.take(key_floats()), *const values = parts.take(value_floats());
    float* const transposed = parts.take(transposed_floats(size_));
    AttentionHead head = shape_;
    head.workspace = parts.take(kAttentionWorkspace);
    float* const forgotten = parts.take(shape_.queries);
    head.q = queries, head.k = keys, head.v = values, head.k_transposed = transposed;
    if (probability_ > 0) head.dropout = &dropout;
    each_key_head([&](std::int64_t n, std::int64_t key_head, Interval heads) {
      take_keys(keys, operands, n, key_head);
      transpose_head(transposed, keys, shape_.keys, size_);
      pack_head(values, v, value_place(n, key_head));
      for (std::int64_t h = heads.begin; h < heads.end; ++h) {
        take_queries(queries, q, n, h);
        dropout.begin_head(first_weight(operands, n, h));
        add_parameters(head, operands, h);
        auto* const saved = static_cast<float*>(operands.saved);
        block_products().attend(head, result, saved != nullptr ? log_sums(saved, n, h) : forgotten);
        unpack_head(y, result, output_place(n, h));
      }
    });
    zero_unused(y);
  }

  void backward_data(const Operands& operands) override { differentiate(operands, {}); }

  /// A sink's weight is exp(sink - log sum), of which nothing comes to the output.
  void backward_weights(const Operands& operands) override {
    float* const gradients = operands.parameter_gradients;
    if (!operands.adds_parameter_gradients) std::fill_n(gradients, parameters(), 0.0F);
    if (!sinks_) return differentiate_buckets(operands);
    const Tensor y(operands.output), dy(operands.output_gradient);
    ScratchParts parts(2 * output_floats() + shape_.queries);
    float *const made = parts.take(output_floats()), *const of_made = parts.take(output_floats());
    float* const products = parts.take(shape_.queries);
    each_key_head([&](std::int64_t n, std::int64_t, Interval heads) {
      for (std::int64_t h = heads.begin; h < heads.end; ++h) {
        pack_head(made, y, output_place(n, h));
        pack_head(of_made, dy, output_place(n, h));
        multiply(products, made, of_made);
        const float* const sums = log_sums(static_cast<float*>(operands.saved), n, h);
        const std::int64_t at = h - own_heads().begin;
        for (std::int64_t i = 0; i < shape_.queries; ++i) {
          gradients[at] -= std::exp(operands.parameters[at] - sums[i]) * products[i];
        }
      }
    });
  }

  /// The gradients of all scores once more, summed by the distances' buckets.
  void differentiate_buckets(const Operands& operands) {
    std::vector<float> sums(by_distance_.size() * static_cast<std::size_t>(own_heads().size()));
    std::vector<Region> none(operands.inputs.size());
    Operands without = operands;
    without.input_gradients = none;
    differentiate(without, sums);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const auto head = static_cast<std::int64_t>(i / buckets_.size());
      operands.parameter_gradients[head * row_ + buckets_[i % buckets_.size()]] += sums[i];
    }
  }

  void update(const Operands& operands) override { update_parameters(operands, parameters()); }

  /// `by_distance`: of each head, as by_distance_; empty where it is not wanted.
  void differentiate(const Operands& operands, std::span<float> by_distance) {
    HeadDropout dropout = dropout_of(operands);
    const Tensor q(operands.inputs[0]), v(operands.inputs[2]);
    const Tensor y(operands.output), dy(operands.output_gradient);
    const Tensor dq(operands.input_gradients[0]), dk(operands.input_gradients[1]);
    const Tensor dv(operands.input_gradients[2]);
    const Tensor dshared = shares() ? Tensor(operands.input_gradients[3]) : Tensor();
    const std::int64_t either = std::max(query_floats(), output_floats());
    ScratchParts parts(query_floats() + either + output_floats() + 3 * key_floats() +
                       2 * value_floats() + transposed_floats(size_) +
                       transposed_floats(value_size_) + kAttentionWorkspace + shape_.queries);
    float* const queries = parts.take(query_floats());
    float* const of_queries = parts.take(either);          // y, then the gradient
    float* const gradients = parts.take(output_floats());  // of y
    float *const keys = parts.take(key_floats()), *const values = parts.take(value_floats());
    float *const of_keys = parts.take(key_floats()), *const of_values = parts.take(value_floats());
    float* const of_shared = parts.take(key_floats());  // of all heads
    float* const keys_transposed = parts.take(transposed_floats(size_));
    float* const values_transposed = parts.take(transposed_floats(value_size_));
    AttentionHead head = shape_;
    head.workspace = parts.take(kAttentionWorkspace);
    float* const products = parts.take(shape_.queries);
    head.q = queries, head.k = keys, head.v = values;
    head.k_transposed = keys_transposed, head.v_transposed = values_transposed;
    if (probability_ > 0) head.dropout = &dropout;
    if (dq && holds_more(dq.box())) fill_zero(dq);
    each_key_head([&](std::int64_t n, std::int64_t key_head, Interval heads) {
      take_keys(keys, operands, n, key_head);
      pack_head(values, v, value_place(n, key_head));
      transpose_head(keys_transposed, keys, shape_.keys, size_);
      transpose_head(values_transposed, values, shape_.keys, value_size_);
      std::fill_n(of_keys, key_floats(), 0.0F);
      std::fill_n(of_values, value_floats(), 0.0F);
      for (std::int64_t h = heads.begin; h < heads.end; ++h) {
        take_queries(queries, q, n, h);
        pack_head(of_queries, y, output_place(n, h));
        pack_head(gradients, dy, output_place(n, h));
        multiply(products, gradients, of_queries);
        dropout.begin_head(first_weight(operands, n, h));
        add_parameters(head, operands, h);
        const std::int64_t first = (h - own_heads().begin) * distances() + shape_.queries - 1;
        block_products().attend_backward(
            head,
            {gradients, log_sums(static_cast<float*>(operands.saved), n, h), products, of_queries,
             of_keys, of_values, by_distance.empty() ? nullptr : by_distance.data() + first});
        if (!dq) continue;
        turn_queries_.turn(of_queries, -1);
        unpack_head(dq, of_queries, query_place(dq.box(), n, h), scale_);
      }
      turn_keys_.turn(of_keys, -1);
      if (dk) unpack_head(dk, of_keys, key_place(n, key_head));
      if (dv) unpack_head(dv, of_values, value_place(n, key_head));
      if (!dshared) return;
      const bool first = key_head == own_key_heads().begin;
      for (std::int64_t i = 0; i < key_floats(); ++i) {
        of_shared[i] = of_keys[i] + (first ? 0 : of_shared[i]);
      }
      if (key_head + 1 == own_key_heads().end) unpack_head(dshared, of_shared, shared_place(n));
    });
    for (const Tensor& gradient : {dq, dk, dv, dshared}) {
      if (gradient) zero_unused(gradient);
    }
  }

  void take_queries(float* to, const Tensor& q, std::int64_t n, std::int64_t head) const {
    pack_head(to, q, query_place(queries_, n, head), scale_);
    turn_queries_.turn(to, 1);
  }
  void take_keys(float* to, const Operands& operands, std::int64_t n, std::int64_t head) const {
    pack_head(to, Tensor(operands.inputs[1]), key_place(n, head));
    if (shares()) pack_head(to, Tensor(operands.inputs[3]), shared_place(n));
    turn_keys_.turn(to, 1);
  }

  /// Whether the device holds queries that the shard has not.
  bool holds_more(const Box& queries) const {
    Extents own = extents(output_);
    own[Dim::c] = own_heads().size() * size_;
    return extents(queries) != own;
  }

  std::int64_t distances() const { return static_cast<std::int64_t>(buckets_.size()); }

  /// Of each position, the product of two packed heads of values.
  void multiply(float* products, const float* a, const float* b) const {
    const std::int64_t lanes = vector_block();
    std::fill_n(products, shape_.queries, 0.0F);
    for (std::int64_t c = 0; c < shape_.value_channels; c += lanes) {
      for (std::int64_t i = 0; i < shape_.queries; ++i, a += lanes, b += lanes) {
        float sum = 0;
        for (std::int64_t k = 0; k < lanes; ++k) sum += a[k] * b[k];
        products[i] += sum;
      }
    }
  }

  std::int64_t size_;        ///< of a head of queries, in channels
  std::int64_t own_size_;    ///< of a head of keys, without what all share
  std::int64_t value_size_;  ///< of a head of values
  Box output_, queries_, keys_, values_, shared_;
  float scale_;
  Rotary turn_queries_, turn_keys_;
  std::int64_t samples_, heads_;             ///< of the layer
  std::int64_t group_;                       ///< heads of queries that a head of keys serves
  std::int64_t whole_queries_, whole_keys_;  ///< of the layer
  double probability_;                       ///< of the dropout; 0 without one
  LayerDropout dropout_;
  bool sinks_;
  std::int64_t row_ = 0;               ///< parameters of a head
  std::vector<std::int64_t> buckets_;  ///< from the last query's first key to the first's last
  std::vector<float> by_distance_;     ///< of a head, what these buckets have
  AttentionHead shape_;
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const Attention& op) {
  return std::make_unique<AttentionKernel>(spec, op);
}

}  // namespace strata::cpu
