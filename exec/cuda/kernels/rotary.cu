#include <cmath>

#include "exec/cuda/kernels/rotary.h"
#include "exec/cuda/tensor/tensor.h"

namespace strata::cuda {
namespace {

constexpr double kTurn = 6.283185307179586;

/// A thread has one pair, or one channel that stays. Angles are cut to half a turn in fp64: at far
/// positions those of fp32 have no digits left.
template <class T>
struct TurnPairs {
  T* to;
  const T* from;
  RotaryPairs rotary;
  std::int64_t heads, positions, first_position;
  int way;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const Quotient head(i, rotary.head_size - rotary.pairs), row(head.whole, heads);
    const std::int64_t begin = head.whole * rotary.head_size;
    if (head.rest >= rotary.pairs) {
      const std::int64_t stays = head.rest - rotary.pairs;
      const std::int64_t at = begin + stays + (stays < rotary.first ? 0 : 2 * rotary.pairs);
      to[at] = from[at];
      return;
    }
    const std::int64_t position = first_position + Quotient(row.whole, positions).rest;
    const double turns = static_cast<double>(position) * rotary.turns[head.rest];
    const auto angle = static_cast<float>((turns - std::floor(turns + 0.5)) * kTurn);
    const float cosine = std::cos(angle), sine = static_cast<float>(way) * std::sin(angle);
    const std::int64_t first = begin + rotary.first + head.rest;
    const std::int64_t second = first + rotary.pairs;
    const auto a = static_cast<float>(from[first]), b = static_cast<float>(from[second]);
    to[first] = T(a * cosine - b * sine);
    to[second] = T(a * sine + b * cosine);
  }
};

}  // namespace

RotaryPairs rotary_pairs(double base, Interval channels, std::int64_t head_size) {
  RotaryPairs rotary{channels.size() / 2, channels.begin, head_size, {}};
  for (std::int64_t i = 0; i < rotary.pairs; ++i) {
    const double exponent = -2 * static_cast<double>(i) / static_cast<double>(channels.size());
    rotary.turns[i] = std::pow(base, exponent) / kTurn;
  }
  return rotary;
}

void turn_heads(const Region& to, const Region& from, const RotaryPairs& pairs, int way, Type type,
                Stream& stream) {
  with_type(type, [&]<class T>(T) {
    const std::int64_t heads = volume(from.box) / pairs.head_size;
    each(stream, heads * (pairs.head_size - pairs.pairs),
         TurnPairs<T>{static_cast<T*>(to.data), static_cast<const T*>(from.data), pairs,
                      from.box[Dim::c].size() / pairs.head_size, from.box[Dim::w].size(),
                      from.box[Dim::w].begin, way});
  });
}

}  // namespace strata::cuda
