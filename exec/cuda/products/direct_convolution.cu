#include "exec/cuda/products/direct_convolution.h"
#include "exec/cuda/tensor/tensor.h"

namespace strata::cuda {
namespace {

/// A convolution's sizes as its loops need them; n and c are 1 or 0 where they mean nothing.
struct DirectSizes {
  Places input, output, kernel;
  Places stride, dilation, pad;
  std::int64_t group_inputs, group_outputs;

  STRATA_ANYWHERE std::int64_t taps() const { return kernel.d * kernel.h * kernel.w; }
  STRATA_ANYWHERE Places tap(std::int64_t t) const {
    return {0, t / (kernel.h * kernel.w), t / kernel.w % kernel.h, t % kernel.w, 0};
  }
  /// Where an output's window taps the input; it may lie in the padding.
  STRATA_ANYWHERE Places tapped(const Places& o, const Places& t) const {
    return {o.n, o.d * stride.d - pad.d + t.d * dilation.d,
            o.h * stride.h - pad.h + t.h * dilation.h, o.w * stride.w - pad.w + t.w * dilation.w,
            0};
  }
  /// The output whose window taps an input with this tap; outside of it where there is none.
  STRATA_ANYWHERE Places tapping(const Places& i, const Places& t) const {
    return {i.n, divided(i.d + pad.d - t.d * dilation.d, stride.d),
            divided(i.h + pad.h - t.h * dilation.h, stride.h),
            divided(i.w + pad.w - t.w * dilation.w, stride.w), 0};
  }
  STRATA_ANYWHERE static std::int64_t divided(std::int64_t place, std::int64_t stride) {
    return place >= 0 && place % stride == 0 ? place / stride : -1;
  }
  STRATA_ANYWHERE static bool holds(const Places& size, const Places& at) {
    return at.d >= 0 && at.d < size.d && at.h >= 0 && at.h < size.h && at.w >= 0 && at.w < size.w;
  }
};

DirectSizes direct_sizes(const ConvolutionShape& shape) {
  DirectSizes it{{shape.samples, 1, 1, 1, shape.in_channels},
                 {shape.samples, 1, 1, 1, shape.out_channels},
                 {1, 1, 1, 1, shape.groups.inputs},
                 {},
                 {},
                 {0, 0, 0, 0, 0},
                 shape.groups.inputs,
                 shape.groups.outputs};
  for (const ConvolutionAxis& axis : shape.axes) {
    const auto set = [&](std::int64_t Places::*dim) {
      it.input.*dim = axis.input, it.output.*dim = axis.output, it.kernel.*dim = axis.kernel;
      it.stride.*dim = axis.stride, it.dilation.*dim = axis.dilation;
      it.pad.*dim = axis.pad_begin;
    };
    set(axis.dim == Dim::d ? &Places::d : axis.dim == Dim::h ? &Places::h : &Places::w);
  }
  return it;
}

template <class T>
struct DirectForward {
  DirectSizes sizes;
  const T *input, *filter;
  T* output;

  STRATA_ANYWHERE void operator()(std::int64_t i) const { output[i] = T(sum(i)); }
  STRATA_ANYWHERE float sum(std::int64_t i) const {
    const Places at = sizes.output.at(i);
    const std::int64_t first = at.c / sizes.group_outputs * sizes.group_inputs;
    float sum = 0;
    for (std::int64_t t = 0; t < sizes.taps(); ++t) {
      const Places from = sizes.tapped(at, sizes.tap(t));
      if (!DirectSizes::holds(sizes.input, from)) continue;
      const T* x = input + sizes.input.place(from) + first;
      const T* w = filter + (at.c * sizes.taps() + t) * sizes.group_inputs;
      for (std::int64_t c = 0; c < sizes.group_inputs; ++c) {
        sum += static_cast<float>(x[c]) * static_cast<float>(w[c]);
      }
    }
    return sum;
  }
};

template <class T>
struct DirectData {
  DirectSizes sizes;
  const T *output, *filter;
  T* input;

  STRATA_ANYWHERE void operator()(std::int64_t i) const { input[i] = T(sum(i)); }
  STRATA_ANYWHERE float sum(std::int64_t i) const {
    const Places at = sizes.input.at(i);
    const std::int64_t group = at.c / sizes.group_inputs, c = at.c % sizes.group_inputs;
    const std::int64_t first = group * sizes.group_outputs;
    float sum = 0;
    for (std::int64_t t = 0; t < sizes.taps(); ++t) {
      const Places from = sizes.tapping(at, sizes.tap(t));
      if (!DirectSizes::holds(sizes.output, from)) continue;
      const T* dy = output + sizes.output.place(from) + first;
      const T* w = filter + (first * sizes.taps() + t) * sizes.group_inputs + c;
      for (std::int64_t o = 0; o < sizes.group_outputs; ++o) {
        sum += static_cast<float>(dy[o]) *
               static_cast<float>(w[o * sizes.taps() * sizes.group_inputs]);
      }
    }
    return sum;
  }
};

/// A team for each element of the filter.
template <class T>
struct DirectWeights {
  DirectSizes sizes;
  const T *input, *output;
  T* filter;

  STRATA_ANYWHERE void operator()(const Team& team, std::int64_t i) const {
    const float all = sum(team, i);
    if (team.rank() == 0) filter[i] = T(all);
  }
  /// Every thread of the team gets it.
  STRATA_ANYWHERE float sum(const Team& team, std::int64_t i) const {
    const std::int64_t c = i % sizes.group_inputs, o = i / sizes.group_inputs / sizes.taps();
    const Places tap = sizes.tap(i / sizes.group_inputs % sizes.taps());
    const std::int64_t channel = o / sizes.group_outputs * sizes.group_inputs + c;
    Places outputs = sizes.output;
    outputs.c = 1;
    float sum = 0;
    for (std::int64_t k = team.rank(); k < outputs.count(); k += team.size()) {
      const Places from = sizes.tapped(outputs.at(k), tap);
      if (!DirectSizes::holds(sizes.input, from)) continue;
      sum += static_cast<float>(input[sizes.input.place(from) + channel]) *
             static_cast<float>(output[k * sizes.output.c + o]);
    }
    return team.sum(sum);
  }
};

/// Calls `on_each` with the loop over the output or the input, or `on_teams` with the filter's.
template <class T, class OnEach, class OnTeams>
void with_loop(const ConvolutionShape& shape, Direction direction, const ConvolutionMemory& memory,
               const OnEach& on_each, const OnTeams& on_teams) {
  const DirectSizes sizes = direct_sizes(shape);
  T *const x = static_cast<T*>(memory.input), *const w = static_cast<T*>(memory.filter),
           *const y = static_cast<T*>(memory.output);
  if (direction == Direction::forward) {
    on_each(DirectForward<T>{sizes, x, w, y});
  } else if (direction == Direction::data) {
    on_each(DirectData<T>{sizes, y, w, x});
  } else {
    on_teams(DirectWeights<T>{sizes, x, y, w});
  }
}

template <class Loop>
struct SampledEach {
  Loop loop;
  SampledElements sample;
  float* sums;

  STRATA_ANYWHERE void operator()(std::int64_t k) const { sums[k] = loop.sum(sample.element(k)); }
};

template <class Loop>
struct SampledTeams {
  Loop loop;
  SampledElements sample;
  float* sums;

  STRATA_ANYWHERE void operator()(const Team& team, std::int64_t k) const {
    const float sum = loop.sum(team, sample.element(k));
    if (team.rank() == 0) sums[k] = sum;
  }
};

template <class T>
struct DirectMatrix {
  const T* data;
  std::int64_t of_row, of_column;  ///< steps from one to the next
};

template <class T>
DirectMatrix<T> direct_matrix(const Matrix& it) {
  const auto* data = static_cast<const T*>(it.data);
  if (it.transposed) return {data, 1, it.rows};
  return {data, it.columns, 1};
}

template <class From, class To>
struct DirectProduct {
  DirectMatrix<From> a, b;
  To* product;
  std::int64_t columns, terms;
  bool adds;

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const From* left = a.data + i / columns * a.of_row;
    const From* right = b.data + i % columns * b.of_column;
    float sum = adds ? static_cast<float>(product[i]) : 0.0F;
    for (std::int64_t k = 0; k < terms; ++k) {
      sum += static_cast<float>(left[k * a.of_column]) * static_cast<float>(right[k * b.of_row]);
    }
    product[i] = To(sum);
  }
};

}  // namespace

void convolve_directly(const ConvolutionShape& shape, Direction direction,
                       const ConvolutionMemory& memory, Type type, Stream& stream) {
  const std::int64_t count = written_elements(shape, direction);
  with_type(type, [&]<class T>(T) {
    with_loop<T>(
        shape, direction, memory, [&](const auto& loop) { each(stream, count, loop); },
        [&](const auto& loop) { teams(stream, count, loop); });
  });
}

std::int64_t written_elements(const ConvolutionShape& shape, Direction direction) {
  const DirectSizes sizes = direct_sizes(shape);
  if (direction == Direction::forward) return sizes.output.count();
  if (direction == Direction::data) return sizes.input.count();
  return shape.out_channels * sizes.taps() * sizes.group_inputs;
}

void convolve_sample_directly(const ConvolutionShape& shape, Direction direction,
                              const ConvolutionMemory& memory, Type type, float* sums,
                              Stream& stream) {
  const SampledElements sample(written_elements(shape, direction));
  with_type(type, [&]<class T>(T) {
    with_loop<T>(
        shape, direction, memory,
        [&]<class Loop>(const Loop& loop) {
          each(stream, sample.count, SampledEach<Loop>{loop, sample, sums});
        },
        [&]<class Loop>(const Loop& loop) {
          teams(stream, sample.count, SampledTeams<Loop>{loop, sample, sums});
        });
  });
}

void multiply_directly(const Matrix& a, const Matrix& b, void* product, const ProductTypes& types,
                       Stream& stream) {
  with_type(types.from, [&]<class From>(From) {
    with_type(types.to, [&]<class To>(To) {
      each(stream, a.rows * b.columns,
           DirectProduct<From, To>{direct_matrix<From>(a), direct_matrix<From>(b),
                                   static_cast<To*>(product), b.columns, a.columns, types.adds});
    });
  });
}

}  // namespace strata::cuda
