#pragma once

// How tensors lie in a GPU's memory: n d h w c with the channels innermost ("NHWC"), dense, in fp32
// or bf16. A Tensor is what loops are given: plain data, by local coordinates from 0.

#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "exec/cuda/device/launch.h"
#include "exec/runtime/kernel.h"
#include "sim/geometry/geometry.h"

namespace strata::cuda {

/// bfloat16: the upper half of an fp32, rounded to nearest, ties to even.
struct Bf16 {
  std::uint16_t bits = 0;

  Bf16() = default;
  STRATA_ANYWHERE explicit Bf16(float value);
  STRATA_ANYWHERE explicit operator float() const;
};

enum class Type : std::uint8_t { fp32, bf16 };
constexpr std::int64_t size_of(Type type) {
  return type == Type::fp32 ? 4 : 2;
}
/// Calls `use` with a value of the type.
template <class Use>
auto with_type(Type type, const Use& use) {
  return type == Type::fp32 ? use(float()) : use(Bf16());
}

/// Sizes and coordinates of a dense tensor, in the order of memory.
struct Places {
  std::int64_t n = 1, d = 1, h = 1, w = 1, c = 1;

  STRATA_ANYWHERE std::int64_t count() const { return n * d * h * w * c; }
  STRATA_ANYWHERE std::int64_t positions() const { return n * d * h * w; }
  STRATA_ANYWHERE friend Places operator+(const Places& a, const Places& b) {
    return {a.n + b.n, a.d + b.d, a.h + b.h, a.w + b.w, a.c + b.c};
  }
  STRATA_ANYWHERE friend Places operator-(const Places& a, const Places& b) {
    return {a.n - b.n, a.d - b.d, a.h - b.h, a.w - b.w, a.c - b.c};
  }
  /// Where coordinates stand in a tensor of these sizes.
  STRATA_ANYWHERE std::int64_t place(const Places& at) const {
    return (((at.n * d + at.d) * h + at.h) * w + at.w) * c + at.c;
  }
  /// The coordinates of a place. Divisions of 32 bits where they do: those of 64 are slow.
  STRATA_ANYWHERE Places at(std::int64_t place) const {
    if (count() <= 0xFFFFFFFF) return split(static_cast<std::uint32_t>(place));
    return split(static_cast<std::uint64_t>(place));
  }

 private:
  template <class Word>
  STRATA_ANYWHERE Places split(Word place) const {
    Places at;
    at.c = place % static_cast<Word>(c), place /= static_cast<Word>(c);
    at.w = place % static_cast<Word>(w), place /= static_cast<Word>(w);
    at.h = place % static_cast<Word>(h), place /= static_cast<Word>(h);
    at.d = place % static_cast<Word>(d), at.n = place / static_cast<Word>(d);
    return at;
  }
};

inline Places places(const Extents& e) {
  return {e[Dim::n], e[Dim::d], e[Dim::h], e[Dim::w], e[Dim::c]};
}
inline Places places(const Box& box) {
  return places(extents(box));
}
/// Where a box begins, as coordinates.
inline Places begin_of(const Box& box) {
  return {box[Dim::n].begin, box[Dim::d].begin, box[Dim::h].begin, box[Dim::w].begin,
          box[Dim::c].begin};
}

template <class T>
struct Tensor {
  T* data = nullptr;
  Places size;

  Tensor() = default;
  explicit Tensor(const Region& region)
      : data(static_cast<T*>(region.data)), size(places(region.box)) {}

  STRATA_ANYWHERE T& at(const Places& local) const { return data[size.place(local)]; }
  explicit operator bool() const { return data != nullptr; }
};

STRATA_ANYWHERE inline Bf16::Bf16(float value) {
  union {
    float value;
    std::uint32_t bits;
  } word = {value};
  const bool not_a_number = (word.bits & 0x7FFFFFFFU) > 0x7F800000U;
  const std::uint32_t to_even = 0x7FFFU + ((word.bits >> 16U) & 1U);
  bits = not_a_number ? 0x7FFF : static_cast<std::uint16_t>((word.bits + to_even) >> 16U);
}

STRATA_ANYWHERE inline Bf16::operator float() const {
  union {
    std::uint32_t bits;
    float value;
  } word = {static_cast<std::uint32_t>(bits) << 16U};
  return word.value;
}

/// a / b and what is left, of numbers that are not negative; by 32 bits where they do.
struct Quotient {
  std::int64_t whole, rest;
  STRATA_ANYWHERE Quotient(std::int64_t a, std::int64_t b) {
    const bool small = a <= 0xFFFFFFFF && b <= 0xFFFFFFFF;
    whole = small ? static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b) : a / b;
    rest = a - whole * b;
  }
};

/// Whether 16 bytes may be moved at once from there.
inline bool is_aligned(const void* memory) {
  return reinterpret_cast<std::uintptr_t>(memory) % 16 == 0;
}

/// `width` neighbouring channels, moved as one.
template <class T, int width>
struct alignas(sizeof(T) * width) Pack {
  T values[width];
};

/// The same memory, by packs of channels. `width` divides the number of channels.
template <int width, class T>
Tensor<Pack<T, width>> packed(const Tensor<T>& tensor) {
  Tensor<Pack<T, width>> result;
  result.data = reinterpret_cast<Pack<T, width>*>(tensor.data);
  result.size = tensor.size;
  result.size.c /= width;
  return result;
}

/// Calls `use` with std::integral_constant<int, W>, where W neighbours fill the 16 bytes that a
/// thread moves at once if all of `channels` are multiples of it, or is 1.
template <class T, class Use>
void with_width(std::initializer_list<std::int64_t> channels, const Use& use) {
  constexpr int kWide = 16 / sizeof(T);
  for (std::int64_t c : channels) {
    if (c % kWide != 0) return use(std::integral_constant<int, 1>());
  }
  use(std::integral_constant<int, kWide>());
}

}  // namespace strata::cuda
