#include "exec/cuda/tensor/noise.h"

namespace strata::cuda {
namespace {

template <class T>
struct FillWithNoise {
  T* to;
  STRATA_ANYWHERE void operator()(std::int64_t i) const {
    // The finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
    std::uint64_t x = (static_cast<std::uint64_t>(i) + 1) * 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
    const auto bits = static_cast<std::int32_t>((x ^ (x >> 31U)) >> 40U);  // 24 of them
    to[i] = T(static_cast<float>(bits) * 0x1p-23F - 1.0F);
  }
};

}  // namespace

void fill_with_noise(void* to, std::int64_t count, Type type, Stream& stream) {
  with_type(type, [&]<class T>(T) { each(stream, count, FillWithNoise<T>{static_cast<T*>(to)}); });
}

}  // namespace strata::cuda
