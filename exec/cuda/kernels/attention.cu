// A shard of an attention. Rotary positions turn its queries and keys once, in scratch memory,
// before any block of threads reads them; their gradients are turned back where they lie. Keys that
// share channels are made whole there, too, and so are their gradients.

#include <span>
#include <string>
#include <vector>

#include "exec/cuda/kernels/attention_loops.h"
#include "exec/cuda/kernels/attention_parameters.h"
#include "exec/cuda/kernels/kernels.h"
#include "exec/cuda/kernels/rotary.h"
#include "exec/cuda/kernels/whole_keys.h"
#include "exec/cuda/streams/scratch_pieces.h"
#include "sim/base/error.h"

namespace strata::cuda {
namespace {

/// Calls `use` with the smallest TileSizes that heads of so many channels fit in.
template <class Use>
void with_tile_sizes(std::int64_t channels, const Use& use) {
  if (channels <= 32) return use(TileSizes<32>());
  if (channels <= 64) return use(TileSizes<64>());
  if (channels <= 128) return use(TileSizes<128>());
  use(TileSizes<256>());
}

template <class T>
class AttentionKernel : public PhasedKernel {
 public:
  AttentionKernel(Seat& seat, const ShardSpec& spec, const Attention& op)
      : seat_(seat),
        size_(op.head_size),
        own_size_(op.own_key_size()),
        value_size_(op.output_size()),
        output_(spec.output),
        keys_(spec.inputs[1][0]),
        seen_{output_[Dim::w].size(), keys_[Dim::w].size(),
              output_[Dim::w].begin - keys_[Dim::w].begin, op.causal, op.window},
        groups_{output_[Dim::n].size(),
                output_[Dim::c].size() / value_size_,
                keys_[Dim::c].size() / own_size_,
                output_[Dim::c].begin / value_size_,
                keys_[Dim::c].begin / own_size_,
                (channels_of(spec, 0) / size_) / (channels_of(spec, 1) / own_size_)},
        samples_((*spec).output[Dim::n]),
        turns_(op.rotary > 0),
        scale_(static_cast<float>(op.score_scale())),
        softcap_(static_cast<float>(op.softcap)),
        dropout_{LayerDropout(spec.seed, spec.layer, op.dropout),
                 nullptr,
                 static_cast<float>(1 / (1 - op.dropout)),
                 (*spec).output[Dim::c] / value_size_,
                 (*spec).output[Dim::w],
                 (*spec.graph)[(*spec).inputs[1]].output[Dim::w],
                 output_[Dim::n].begin,
                 groups_.first_head,
                 output_[Dim::w].begin,
                 keys_[Dim::w].begin} {
    if (op.dropout > 0 && spec.training) dropout_.step = seat_.step();
    if (largest_size() > kMostHeadChannels) {
      throw EnvironmentError("attention on GPUs has heads of at most " +
                             std::to_string(kMostHeadChannels) + " channels, not " +
                             std::to_string(largest_size()));
    }
    if (turns_) rotary_ = rotary_pairs(op.rotary, op.turned(), size_);
    sinks_ = op.sinks, row_ = op.sinks ? 1 : op.buckets;
    if (op.buckets > 0) take_buckets(op);
  }

 private:
  static std::int64_t channels_of(const ShardSpec& spec, std::size_t input) {
    return (*spec.graph)[(*spec).inputs[input]].output[Dim::c];
  }

  /// From the last query's first key to the first query's last.
  void take_buckets(const Attention& op) {
    distances_ = seen_.queries + seen_.keys - 1;
    std::vector<std::int32_t> buckets;
    for (std::int64_t i = 0; i < distances_; ++i) {
      const std::int64_t key = keys_[Dim::w].begin + i, query = output_[Dim::w].end - 1;
      buckets.push_back(static_cast<std::int32_t>(op.bucket_of(key - query)));
    }
    const auto bytes = static_cast<std::int64_t>(buckets.size() * sizeof(std::int32_t));
    buckets_ = LastingMemory(seat_.gpu(), bytes);
    seat_.tell(buckets_.data(), std::as_bytes(std::span(buckets)));
  }
  const std::int32_t* buckets() const { return static_cast<const std::int32_t*>(buckets_.data()); }
  std::int64_t distance_bytes() const {
    return groups_.heads * distances_ * static_cast<std::int64_t>(sizeof(float));
  }
  /// `by_distance`: memory for what the distances of each head have.
  ScoreParameters score_parameters(const Operands& operands, void* by_distance) const {
    if (sinks_) return {.sinks = operands.parameters};
    if (row_ == 0) return {};
    auto* const to = static_cast<float*>(by_distance);
    each(seat_.stream(), groups_.heads * distances_,
         SpreadBuckets{operands.parameters, buckets(), row_, distances_, to});
    return {nullptr, to, seen_.queries, distances_};
  }

  bool shares() const { return own_size_ < size_; }
  std::int64_t largest_size() const { return size_ > value_size_ ? size_ : value_size_; }

  /// The shard's heads of so many channels within a tensor of queries or the output, and of whole
  /// keys or values.
  template <class Value>
  Heads<Value> heads_of_queries(const Region& region, std::int64_t size) const {
    Places first = begin_of(output_) - begin_of(region.box);
    first.c = groups_.first_head * size - region.box[Dim::c].begin;
    return {Tensor<Value>(region), first, static_cast<int>(size)};
  }
  template <class Value>
  Heads<Value> heads_of_keys(const Region& region, std::int64_t size) const {
    Places first;
    first.n = output_[Dim::n].begin - region.box[Dim::n].begin;
    first.d = first.h = first.w = first.c = 0;
    return {Tensor<Value>(region), first, static_cast<int>(size)};
  }

  std::int64_t log_sums() const { return groups_.samples * groups_.heads * seen_.queries; }
  std::int64_t turned_bytes(const Region& region) const {
    return turns_ ? volume(region.box) * static_cast<std::int64_t>(sizeof(T)) : 0;
  }
  /// Of whole keys, turned or not, beside the inputs.
  std::int64_t key_bytes(const Region& own) const {
    return shares() ? whole_bytes(own) : turned_bytes(own);
  }
  std::int64_t whole_bytes(const Region& own) const {
    return volume(whole_keys(own, nullptr).box) * static_cast<std::int64_t>(sizeof(T));
  }
  /// Keys with what they share.
  Region whole_keys(const Region& own, void* memory) const {
    Region to{memory, own.box};
    to.box[Dim::c] = {groups_.first_key_head * size_,
                      (groups_.first_key_head + groups_.key_heads) * size_};
    return to;
  }
  /// Whole and turned.
  Region keys_of(const Operands& operands, void* memory) const {
    if (!shares()) return turned(operands.inputs[1], memory);
    const Region to = whole_keys(operands.inputs[1], memory);
    join_keys(to, operands.inputs[1], operands.inputs[3], size_, seat_.type(), seat_.stream());
    if (turns_) turn_heads(to, to, rotary_, 1, seat_.type(), seat_.stream());
    return to;
  }

  /// The region, or its turned copy.
  Region turned(const Region& region, void* memory) const {
    if (!turns_) return region;
    Region to{memory, region.box};
    turn_heads(to, region, rotary_, 1, seat_.type(), seat_.stream());
    return to;
  }
  void turn_back(const Region& gradient) const {
    if (!turns_ || gradient.data == nullptr) return;
    turn_heads(gradient, gradient, rotary_, -1, seat_.type(), seat_.stream());
  }

  AttentionTensors<T> tensors(const Operands& operands, void* queries, void* keys,
                              void* by_distance) const {
    WeightDropout dropout = dropout_;
    if (operands.step != nullptr) dropout.first_sample += operands.step->round * samples_;
    return {seen_,
            groups_,
            heads_of_queries<const T>(turned(operands.inputs[0], queries), size_),
            heads_of_keys<const T>(keys_of(operands, keys), size_),
            heads_of_keys<const T>(operands.inputs[2], value_size_),
            scale_,
            softcap_,
            static_cast<float*>(operands.saved),
            dropout,
            score_parameters(operands, by_distance)};
  }

  void forward(const Operands& operands) override {
    const auto [queries, keys, by_distance] = scratch_pieces(
        seat_, {turned_bytes(operands.inputs[0]), key_bytes(operands.inputs[1]), distance_bytes()});
    const AttentionTensors<T> of = tensors(operands, queries, keys, by_distance);
    const auto y = heads_of_queries<T>(operands.output, value_size_);
    with_tile_sizes(largest_size(), [&]<class Sizes>(Sizes) {
      using Loop = AttendLoop<T, Sizes>;
      tiles(seat_.stream(), query_tiles(Sizes::kKept), Loop::kMemory, Loop{of, y});
    });
  }

  void backward_data(const Operands& operands) override {
    const Region &dq = operands.input_gradients[0], &dv = operands.input_gradients[2];
    const bool parts = shares() && (operands.input_gradients[1].data != nullptr ||
                                    operands.input_gradients[3].data != nullptr);
    const auto [queries, keys, products, of_keys, by_distance] = scratch_pieces(
        seat_, {turned_bytes(operands.inputs[0]), key_bytes(operands.inputs[1]), product_bytes(),
                parts ? whole_bytes(operands.inputs[1]) : 0, distance_bytes()});
    const Region dk =
        shares() ? whole_keys(operands.inputs[1], of_keys) : Region(operands.input_gradients[1]);
    const AttentionTensors<T> of = tensors(operands, queries, keys, by_distance);
    const AttentionGradients<T> gradients{
        heads_of_queries<const T>(operands.output_gradient, value_size_),
        output_products(operands, products), heads_of_queries<T>(dq, size_),
        heads_of_keys<T>(dk, size_), heads_of_keys<T>(dv, value_size_)};
    with_tile_sizes(largest_size(), [&]<class Sizes>(Sizes) {
      if (dq.data != nullptr) {
        clear_beyond(dq);
        using Loop = QueryGradientLoop<T, Sizes>;
        tiles(seat_.stream(), query_tiles(Sizes::kKept), Loop::kMemory, Loop{of, gradients});
      }
      if (dk.data != nullptr || dv.data != nullptr) {
        using Loop = KeyGradientLoop<T, Sizes>;
        tiles(seat_.stream(), key_tiles(Sizes::kKept), Loop::kMemory, Loop{of, gradients});
      }
    });
    turn_back(dq), turn_back(dk);
    if (!parts) return;
    part_keys(dk, operands.input_gradients[1], operands.input_gradients[3], size_, seat_.type(),
              seat_.stream());
  }

  void backward_weights(const Operands& operands) override {
    const auto [products, by_distance, of_distances] =
        scratch_pieces(seat_, {product_bytes(), distance_bytes(), distance_bytes()});
    const float* const dy_y = output_products(operands, products);
    const bool adds = operands.adds_parameter_gradients;
    if (sinks_) {
      teams(seat_.stream(), groups_.heads,
            SinkGradients{groups_, seen_.queries, operands.parameters,
                          static_cast<const float*>(operands.saved), dy_y,
                          operands.parameter_gradients, adds});
      return;
    }
    const AttentionTensors<T> of = tensors(operands, nullptr, nullptr, by_distance);
    auto* const sums = static_cast<float*>(of_distances);
    AttentionGradients<T> gradients{};
    gradients.dy = heads_of_queries<const T>(operands.output_gradient, value_size_);
    gradients.dy_y = dy_y;
    teams(seat_.stream(), groups_.heads * distances_, DistanceGradients<T>{of, gradients, sums});
    each(seat_.stream(), groups_.heads * row_,
         SumBuckets{sums, buckets(), row_, distances_, operands.parameter_gradients, adds});
  }

  void update(const Operands& operands) override {
    update_parameters(operands, groups_.heads * row_, seat_);
  }

  std::int64_t product_bytes() const {
    return log_sums() * static_cast<std::int64_t>(sizeof(float));
  }
  /// dy . y of each query.
  const float* output_products(const Operands& operands, void* memory) const {
    auto* const dy_y = static_cast<float*>(memory);
    each(seat_.stream(), log_sums(),
         OutputProducts<T>{groups_, seen_.queries,
                           heads_of_queries<const T>(operands.output, value_size_),
                           heads_of_queries<const T>(operands.output_gradient, value_size_), dy_y});
    return dy_y;
  }

  std::int64_t query_tiles(int rows) const {
    return TileItem::count(groups_.heads, groups_.samples, seen_.queries, rows);
  }
  std::int64_t key_tiles(int rows) const {
    return TileItem::count(groups_.key_heads, groups_.samples, seen_.keys, rows);
  }

  /// Queries that the device holds and the shard has not.
  void clear_beyond(const Region& dq) const {
    Extents own = extents(output_);
    own[Dim::c] = groups_.heads * size_;
    if (extents(dq.box) == own) return;
    clear(dq.data, volume(dq.box) * size_of(seat_.type()), seat_.stream());
  }

  Seat& seat_;
  std::int64_t size_;        ///< of a head of queries, in channels
  std::int64_t own_size_;    ///< of a head of keys, without what all share
  std::int64_t value_size_;  ///< of a head of values
  Box output_, keys_;
  SeenKeys seen_;
  HeadGroups groups_;
  std::int64_t samples_;  ///< of a round
  bool turns_;
  float scale_, softcap_;
  WeightDropout dropout_;
  RotaryPairs rotary_{};
  bool sinks_ = false;
  std::int64_t row_ = 0;        ///< parameters of a head
  std::int64_t distances_ = 0;  ///< of the shard's queries and keys, where they have buckets
  LastingMemory buckets_;       ///< of these
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const Attention& op) {
  return make_of_type<AttentionKernel>(seat.type(), seat, spec, op);
}

}  // namespace strata::cuda
