#include <algorithm>
#include <cmath>
#include <limits>

#include "exec/cuda/products/engine_check.h"
#include "exec/cuda/tensor/noise.h"

namespace strata::cuda {
namespace {

template <class T>
struct TakeSample {
  const T* from;
  SampledElements sample;
  float* to;

  STRATA_ANYWHERE void operator()(std::int64_t k) const {
    to[k] = static_cast<float>(from[sample.element(k)]);
  }
};

void* written_tensor(const ConvolutionMemory& memory, Direction direction) {
  if (direction == Direction::forward) return memory.output;
  return direction == Direction::data ? memory.input : memory.filter;
}

double distance(std::span<const float> got, std::span<const float> wanted) {
  double difference = 0, largest = 0;
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const double apart = std::abs(static_cast<double>(got[k]) - wanted[k]);
    if (!std::isfinite(apart)) return std::numeric_limits<double>::infinity();
    difference = std::max(difference, apart);
    largest = std::max(largest, std::abs(static_cast<double>(wanted[k])));
  }
  return difference == 0 ? 0 : difference / largest;
}

}  // namespace

EngineCheck::EngineCheck(Seat& seat, const ConvolutionShape& shape, Direction direction,
                         const ConvolutionMemory& memory)
    : seat_(seat),
      shape_(shape),
      direction_(direction),
      memory_(memory),
      written_(written_elements(shape, direction)) {
  const auto count = static_cast<std::size_t>(SampledElements(written_).count);
  sums_ = host_memory(static_cast<std::int64_t>(2 * count * sizeof(float)));
  auto* const sums = static_cast<float*>(sums_.get());
  wanted_ = {sums, count}, got_ = {sums + count, count};
  convolve_sample_directly(shape_, direction_, memory_, seat_.type(), wanted_.data(),
                           seat_.stream());
}

void EngineCheck::spoil() {
  fill_with_noise(written_tensor(memory_, direction_), written_, seat_.type(), seat_.stream());
}

double EngineCheck::error() {
  const SampledElements sample(written_);
  with_type(seat_.type(), [&]<class T>(T) {
    const auto* from = static_cast<const T*>(written_tensor(memory_, direction_));
    each(seat_.stream(), sample.count, TakeSample<T>{from, sample, got_.data()});
  });
  seat_.stream().finish();
  return distance(got_, wanted_);
}

}  // namespace strata::cuda
