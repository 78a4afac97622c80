#include "exec/cpu/attention_heads.h"

#include <algorithm>
#include <cmath>

#include "exec/cpu/block_products.h"

namespace strata::cpu {
namespace {

std::int64_t rounded_up(std::int64_t count) {
  const std::int64_t lanes = vector_block();
  return (count + lanes - 1) / lanes * lanes;
}

/// Calls visit(place in the packed head, element of the tensor, how many, step of the tensor) for
/// channels that lie side by side in both, of all positions; `step` is the tensor's.
template <class Visit>
void each_run(const Tensor& tensor, const HeadPlace& place, const Visit& visit) {
  const std::int64_t lanes = vector_block(), block = tensor.block();
  for (std::int64_t c = 0, run = 0; c < place.channels; c += run) {
    const std::int64_t at = place.channel + c;
    const std::int64_t packed = place.behind + c;
    run = std::min({place.channels - c, lanes - packed % lanes, block - at % block});
    float* const element =
        tensor.block_at(place.sample, at / block) + place.position * block + at % block;
    visit(packed / lanes * place.positions * lanes + packed % lanes, element, run, block);
  }
}

}  // namespace

Rotary::Rotary(double base, Interval channels, Interval positions)
    : first_(channels.begin),
      half_(base > 0 ? channels.size() / 2 : 0),
      positions_(positions.size()) {
  cosines_.reserve(static_cast<std::size_t>(positions_ * half_));
  sines_.reserve(cosines_.capacity());
  for (std::int64_t p = positions.begin; p < positions.end; ++p) {
    for (std::int64_t i = 0; i < half_; ++i) {
      const double exponent = -2 * static_cast<double>(i) / static_cast<double>(channels.size());
      const double angle = static_cast<double>(p) * std::pow(base, exponent);
      cosines_.push_back(static_cast<float>(std::cos(angle)));
      sines_.push_back(static_cast<float>(std::sin(angle)));
    }
  }
}

void Rotary::turn(float* head, float way) const {
  const std::int64_t lanes = vector_block();
  for (std::int64_t i = 0, run = 0; i < half_; i += run) {
    const std::int64_t one = first_ + i, other = one + half_;
    run = std::min({half_ - i, lanes - one % lanes, lanes - other % lanes});
    float* first = head + one / lanes * positions_ * lanes + one % lanes;
    float* second = head + other / lanes * positions_ * lanes + other % lanes;
    for (std::int64_t p = 0; p < positions_; ++p, first += lanes, second += lanes) {
      const float* const cosine = cosines_.data() + p * half_ + i;
      const float* const sine = sines_.data() + p * half_ + i;
      for (std::int64_t k = 0; k < run; ++k) {
        const float a = first[k], b = second[k], turned = way * sine[k];
        first[k] = a * cosine[k] - b * turned;
        second[k] = a * turned + b * cosine[k];
      }
    }
  }
}

std::int64_t packed_size(std::int64_t positions, std::int64_t channels) {
  return positions * rounded_up(channels);
}

namespace {

/// Of a packed head, channels from `channel` to the end of its block.
void zero_from(float* head, std::int64_t positions, std::int64_t channel) {
  const std::int64_t lanes = vector_block();
  float* block = head + channel / lanes * positions * lanes;
  for (std::int64_t p = 0; p < positions; ++p, block += lanes) {
    std::fill(block + channel % lanes, block + lanes, 0.0F);
  }
}

}  // namespace

void pack_head(float* to, const Tensor& from, const HeadPlace& place, float scale) {
  const std::int64_t lanes = vector_block(), end = place.behind + place.channels;
  if (end % lanes != 0) zero_from(to, place.positions, end);
  each_run(from, place,
           [&](std::int64_t at, const float* element, std::int64_t run, std::int64_t step) {
             float* head = to + at;
             for (std::int64_t p = 0; p < place.positions; ++p, head += lanes, element += step) {
               for (std::int64_t k = 0; k < run; ++k) head[k] = element[k] * scale;
             }
           });
}

void unpack_head(const Tensor& to, const float* from, const HeadPlace& place, float scale) {
  const std::int64_t lanes = vector_block();
  each_run(to, place, [&](std::int64_t at, float* element, std::int64_t run, std::int64_t step) {
    const float* head = from + at;
    for (std::int64_t p = 0; p < place.positions; ++p, head += lanes, element += step) {
      for (std::int64_t k = 0; k < run; ++k) element[k] = head[k] * scale;
    }
  });
}

std::int64_t transpose_head(float* to, const float* packed, std::int64_t positions,
                            std::int64_t channels) {
  const std::int64_t lanes = vector_block(), padded = rounded_up(channels);
  for (std::int64_t p = 0; to != nullptr && p < positions; p += lanes) {
    for (std::int64_t c = 0; c < padded; c += lanes) {
      block_products().transpose(packed + c * positions + p * lanes, lanes,
                                 std::min(lanes, positions - p), lanes,
                                 to + p * padded + c * lanes);
    }
  }
  return rounded_up(positions) * padded;
}

}  // namespace strata::cpu
