// A shard of an attention. Rotary positions turn its queries and keys once, in scratch memory,
// before any block of threads reads them; their gradients are turned back where they lie.

#include <string>

#include "exec/cuda/kernels/attention_loops.h"
#include "exec/cuda/kernels/kernels.h"
#include "exec/cuda/kernels/rotary.h"
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
        output_(spec.output),
        keys_(spec.inputs[1][0]),
        seen_{output_[Dim::w].size(), keys_[Dim::w].size(),
              output_[Dim::w].begin - keys_[Dim::w].begin, op.causal, op.window},
        groups_{output_[Dim::n].size(),       output_[Dim::c].size() / size_,
                keys_[Dim::c].size() / size_, output_[Dim::c].begin / size_,
                keys_[Dim::c].begin / size_,  channels_of(spec, 0) / channels_of(spec, 1)},
        samples_((*spec).output[Dim::n]),
        turns_(op.rotary > 0),
        scale_(static_cast<float>(op.score_scale())),
        softcap_(static_cast<float>(op.softcap)),
        dropout_{LayerDropout(spec.seed, spec.layer, op.dropout),
                 nullptr,
                 static_cast<float>(1 / (1 - op.dropout)),
                 (*spec).output[Dim::c] / size_,
                 (*spec).output[Dim::w],
                 (*spec.graph)[(*spec).inputs[1]].output[Dim::w],
                 output_[Dim::n].begin,
                 groups_.first_head,
                 output_[Dim::w].begin,
                 keys_[Dim::w].begin} {
    if (op.dropout > 0 && spec.training) dropout_.step = seat_.step();
    if (size_ > kMostHeadChannels) {
      throw EnvironmentError("attention on GPUs has heads of at most " +
                             std::to_string(kMostHeadChannels) + " channels, not " +
                             std::to_string(size_));
    }
    if (turns_) rotary_ = rotary_pairs(op.rotary, op.turned_channels(), size_);
  }

 private:
  static std::int64_t channels_of(const ShardSpec& spec, std::size_t input) {
    return (*spec.graph)[(*spec).inputs[input]].output[Dim::c];
  }

  /// The shard's heads within a tensor of queries, and of keys.
  template <class Value>
  Heads<Value> heads_of_queries(const Region& region) const {
    return {Tensor<Value>(region), begin_of(output_) - begin_of(region.box),
            static_cast<int>(size_)};
  }
  template <class Value>
  Heads<Value> heads_of_keys(const Region& region) const {
    Places first;
    first.n = output_[Dim::n].begin - region.box[Dim::n].begin;
    first.d = first.h = first.w = first.c = 0;
    return {Tensor<Value>(region), first, static_cast<int>(size_)};
  }

  std::int64_t log_sums() const { return groups_.samples * groups_.heads * seen_.queries; }
  std::int64_t turned_bytes(const Region& region) const {
    return turns_ ? volume(region.box) * static_cast<std::int64_t>(sizeof(T)) : 0;
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

  AttentionTensors<T> tensors(const Operands& operands, void* queries, void* keys) const {
    WeightDropout dropout = dropout_;
    if (operands.step != nullptr) dropout.first_sample += operands.step->round * samples_;
    return {seen_,
            groups_,
            heads_of_queries<const T>(turned(operands.inputs[0], queries)),
            heads_of_keys<const T>(turned(operands.inputs[1], keys)),
            heads_of_keys<const T>(operands.inputs[2]),
            scale_,
            softcap_,
            static_cast<float*>(operands.saved),
            dropout};
  }

  void forward(const Operands& operands) override {
    const auto [queries, keys] =
        scratch_pieces(seat_, {turned_bytes(operands.inputs[0]), turned_bytes(operands.inputs[1])});
    const AttentionTensors<T> of = tensors(operands, queries, keys);
    const auto y = heads_of_queries<T>(operands.output);
    with_tile_sizes(size_, [&]<class Sizes>(Sizes) {
      using Loop = AttendLoop<T, Sizes>;
      tiles(seat_.stream(), query_tiles(Sizes::kKept), Loop::kMemory, Loop{of, y});
    });
  }

  void backward_data(const Operands& operands) override {
    const Region &dq = operands.input_gradients[0], &dk = operands.input_gradients[1],
                 &dv = operands.input_gradients[2];
    const auto [queries, keys, products] =
        scratch_pieces(seat_, {turned_bytes(operands.inputs[0]), turned_bytes(operands.inputs[1]),
                               log_sums() * static_cast<std::int64_t>(sizeof(float))});
    const AttentionTensors<T> of = tensors(operands, queries, keys);
    auto* const dy_y = static_cast<float*>(products);
    const AttentionGradients<T> gradients{heads_of_queries<const T>(operands.output_gradient), dy_y,
                                          heads_of_queries<T>(dq), heads_of_keys<T>(dk),
                                          heads_of_keys<T>(dv)};
    each(seat_.stream(), log_sums(),
         OutputProducts<T>{groups_, seen_.queries, heads_of_queries<const T>(operands.output),
                           gradients.dy, dy_y});
    with_tile_sizes(size_, [&]<class Sizes>(Sizes) {
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
  }

  std::int64_t query_tiles(int rows) const {
    return TileItem::count(groups_.heads, groups_.samples, seen_.queries, rows);
  }
  std::int64_t key_tiles(int rows) const {
    return TileItem::count(groups_.key_heads, groups_.samples, seen_.keys, rows);
  }

  /// Queries that the device holds and the shard has not.
  void clear_beyond(const Region& dq) const {
    if (dq.box == output_) return;
    clear(dq.data, volume(dq.box) * size_of(seat_.type()), seat_.stream());
  }

  Seat& seat_;
  std::int64_t size_;  ///< of a head, in channels
  Box output_, keys_;
  SeenKeys seen_;
  HeadGroups groups_;
  std::int64_t samples_;  ///< of a round
  bool turns_;
  float scale_, softcap_;
  WeightDropout dropout_;
  RotaryPairs rotary_{};
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const Attention& op) {
  return make_of_type<AttentionKernel>(seat.type(), seat, spec, op);
}

}  // namespace strata::cuda
