#include "exec/cuda/filter_layout.h"
#include "exec/cuda/tensor.h"

namespace strata::cuda {
namespace {

template <class T>
struct ToFilter {
  ConvolutionGroups groups;
  std::int64_t taps;
  const float* weights;
  T* filter;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const std::int64_t o = i / (taps * groups.inputs), t = i / groups.inputs % taps;
    const std::int64_t own = i % groups.inputs - groups.own_inputs(o);
    const bool meets = own >= 0 && own < groups.layer_inputs;
    filter[i] = T(meets ? weights[(o * groups.layer_inputs + own) * taps + t] : 0.0F);
  }
};

template <class T>
struct FromFilter {
  ConvolutionGroups groups;
  std::int64_t taps;
  const T* filter;
  float* weights;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const std::int64_t o = i / (groups.layer_inputs * taps), t = i % taps;
    const std::int64_t input = i / taps % groups.layer_inputs + groups.own_inputs(o);
    weights[i] = static_cast<float>(filter[(o * taps + t) * groups.inputs + input]);
  }
};

template <class T>
struct ConvertValues {
  const float* from;
  T* to;
  STRATA_ANYWHERE void operator()(std::int64_t i) const { to[i] = T(from[i]); }
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
  const auto run = [&](auto value) {
    using T = decltype(value);
    each(stream, filter_size(shape),
         ToFilter<T>{shape.groups, shape.taps(), weights, static_cast<T*>(filter)});
  };
  type == Type::fp32 ? run(float()) : run(Bf16());
}

void from_filter(const ConvolutionShape& shape, const void* filter, float* weights, Type type,
                 Stream& stream) {
  const auto run = [&](auto value) {
    using T = decltype(value);
    each(stream, shape.weights(),
         FromFilter<T>{shape.groups, shape.taps(), static_cast<const T*>(filter), weights});
  };
  type == Type::fp32 ? run(float()) : run(Bf16());
}

void convert(const float* values, void* to, std::int64_t count, Type type, Stream& stream) {
  const auto run = [&](auto value) {
    using T = decltype(value);
    each(stream, count, ConvertValues<T>{values, static_cast<T*>(to)});
  };
  type == Type::fp32 ? run(float()) : run(Bf16());
}

}  // namespace strata::cuda
