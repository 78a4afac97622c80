#include "exec/cuda/tensor/noise.h"

namespace strata::cuda {
namespace {

template <class T>
struct FillWithNoise {
  T* to;
  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    const auto bits = static_cast<std::int32_t>(scrambled(i) >> 40U);  // 24 of them
    to[i] = T(static_cast<float>(bits) * 0x1p-23F - 1.0F);
  }
};

}  // namespace

void fill_with_noise(void* to, std::int64_t count, Type type, Stream& stream) {
  with_type(type, [&]<class T>(T) { each(stream, count, FillWithNoise<T>{static_cast<T*>(to)}); });
}

}  // namespace strata::cuda
