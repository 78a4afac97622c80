#include "exec/cuda/tensor/filter_layout.h"
#include "exec/cuda/tensor/tensor.h"

namespace strata::cuda {
namespace {

template <class T>
struct ToFilter {
  ConvolutionGroups groups;
  std::int64_t taps;
  const float* weights;
  T* filter;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const Quotient place(i, groups.inputs), tap(place.whole, taps);
    const std::int64_t o = tap.whole, own = place.rest - groups.own_inputs(o);
    const bool meets = own >= 0 && own < groups.layer_inputs;
    filter[i] = T(meets ? weights[(o * groups.layer_inputs + own) * taps + tap.rest] : 0.0F);
  }
};

template <class T>
struct FromFilter {
  ConvolutionGroups groups;
  std::int64_t taps;
  const T* filter;
  float* weights;
  bool adds;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const Quotient tap(i, taps), place(tap.whole, groups.layer_inputs);
    const std::int64_t o = place.whole, input = place.rest + groups.own_inputs(o);
    const auto value = static_cast<float>(filter[(o * taps + tap.rest) * groups.inputs + input]);
    weights[i] = adds ? weights[i] + value : value;
  }
};

/// A thread has as many as fill 16 bytes of the result, the last one what is left.
template <class T>
struct ConvertValues {
  static constexpr int kWidth = 16 / sizeof(T);
  const float* from;
  T* to;
  std::int64_t count;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const std::int64_t first = i * kWidth;
    if (first + kWidth > count) {
      for (std::int64_t k = first; k < count; ++k) to[k] = T(from[k]);
      return;
    }
    const auto read = reinterpret_cast<const Pack<float, kWidth>*>(from)[i];
    Pack<T, kWidth> written;
    for (int k = 0; k < kWidth; ++k) written.values[k] = T(read.values[k]);
    reinterpret_cast<Pack<T, kWidth>*>(to)[i] = written;
  }
};

}  // namespace

bool is_filter(const ConvolutionShape& shape, Type type) {
  return type == Type::fp32 && shape.groups.exact() &&
         (shape.taps() == 1 || shape.groups.inputs == 1);
}

std::int64_t filter_size(const ConvolutionShape& shape) {
  return shape.out_channels * shape.taps() * shape.groups.inputs;
}

void to_filter(const ConvolutionShape& shape, const float* weights, void* filter, Type type,
               Stream& stream) {
  with_type(type, [&]<class T>(T) {
    each(stream, filter_size(shape),
         ToFilter<T>{shape.groups, shape.taps(), weights, static_cast<T*>(filter)});
  });
}

void from_filter(const ConvolutionShape& shape, const void* filter, float* weights, bool adds,
                 Type type, Stream& stream) {
  with_type(type, [&]<class T>(T) {
    each(stream, shape.weights(),
         FromFilter<T>{shape.groups, shape.taps(), static_cast<const T*>(filter), weights, adds});
  });
}

void convert(const float* values, void* to, std::int64_t count, Type type, Stream& stream) {
  with_type(type, [&]<class T>(T) {
    constexpr int kWidth = ConvertValues<T>::kWidth;
    each(stream, (count + kWidth - 1) / kWidth,
         ConvertValues<T>{values, static_cast<T*>(to), count});
  });
}

}  // namespace strata::cuda
