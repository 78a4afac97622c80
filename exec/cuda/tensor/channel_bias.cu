#include "exec/cuda/tensor/channel_bias.h"

namespace strata::cuda {
namespace {

/// A thread takes `width` neighbouring channels of one position.
template <class T, int width, bool adds>
struct BiasLoop {
  Pack<T, width>* to;
  const float* bias;
  std::int64_t packs;  ///< in a position

  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const float* own = bias + Quotient(i, packs).rest * width;
    Pack<T, width> values = to[i];
    for (int k = 0; k < width; ++k) {
      values.values[k] = T(adds ? static_cast<float>(values.values[k]) + own[k] : own[k]);
    }
    to[i] = values;
  }
};

template <class T, bool adds>
void run_bias(const Region& to, const float* bias, Stream& stream) {
  const Tensor<T> tensor(to);
  with_width<T>({tensor.size.c}, [&](auto width) {
    const auto wide = packed<width>(tensor);
    each(stream, wide.size.count(), BiasLoop<T, width, adds>{wide.data, bias, wide.size.c});
  });
}

}  // namespace

void add_bias(const Region& to, const float* bias, Type type, Stream& stream) {
  with_type(type, [&]<class T>(T) { run_bias<T, true>(to, bias, stream); });
}

void fill_bias(const Region& to, const float* bias, Type type, Stream& stream) {
  if (bias == nullptr) return clear(to.data, volume(to.box) * size_of(type), stream);
  with_type(type, [&]<class T>(T) { run_bias<T, false>(to, bias, stream); });
}

}  // namespace strata::cuda
