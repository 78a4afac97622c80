#pragma once

// Quantities with a unit, and only the operators that mean something. Seconds and rates are
// doubles; Bytes are exact integers. Text with units ("12.5 GB/s") is read in sim/text/units.h.

#include <compare>
#include <cstdint>

namespace strata {

struct Seconds {
  double value = 0;

  constexpr auto operator<=>(const Seconds&) const = default;
  constexpr Seconds& operator+=(Seconds b) { return value += b.value, *this; }
  constexpr Seconds& operator-=(Seconds b) { return value -= b.value, *this; }
};
constexpr Seconds operator+(Seconds a, Seconds b) {
  return {a.value + b.value};
}
constexpr Seconds operator-(Seconds a, Seconds b) {
  return {a.value - b.value};
}
constexpr Seconds operator*(Seconds a, double k) {
  return {a.value * k};
}
constexpr Seconds operator*(double k, Seconds a) {
  return {k * a.value};
}
constexpr Seconds operator/(Seconds a, double k) {
  return {a.value / k};
}
constexpr double operator/(Seconds a, Seconds b) {
  return a.value / b.value;
}

struct Bytes {
  std::int64_t value = 0;

  constexpr auto operator<=>(const Bytes&) const = default;
  constexpr Bytes& operator+=(Bytes b) { return value += b.value, *this; }
  constexpr Bytes& operator-=(Bytes b) { return value -= b.value, *this; }
};
constexpr Bytes operator+(Bytes a, Bytes b) {
  return {a.value + b.value};
}
constexpr Bytes operator-(Bytes a, Bytes b) {
  return {a.value - b.value};
}
constexpr Bytes operator*(Bytes a, std::int64_t k) {
  return {a.value * k};
}
constexpr Bytes operator*(std::int64_t k, Bytes a) {
  return {k * a.value};
}

struct BytesPerSecond {
  double value = 0;
  constexpr auto operator<=>(const BytesPerSecond&) const = default;
};
constexpr BytesPerSecond operator*(BytesPerSecond a, double k) {
  return {a.value * k};
}
constexpr Seconds operator/(Bytes a, BytesPerSecond b) {
  return {static_cast<double>(a.value) / b.value};
}

/// Of a link: with less or more, times would leave what the clock and a double hold.
inline constexpr BytesPerSecond kLeastBandwidth{1e-9}, kMostBandwidth{1e18};

struct Watts {
  double value = 0;
  constexpr auto operator<=>(const Watts&) const = default;
};

/// A count of arithmetic operations; one multiply-accumulate is two.
struct Flops {
  double value = 0;
  constexpr auto operator<=>(const Flops&) const = default;
};
constexpr Flops operator+(Flops a, Flops b) {
  return {a.value + b.value};
}
constexpr Flops operator*(Flops a, double k) {
  return {a.value * k};
}

struct FlopsPerSecond {
  double value = 0;
  constexpr auto operator<=>(const FlopsPerSecond&) const = default;
};
constexpr Seconds operator/(Flops a, FlopsPerSecond b) {
  return {a.value / b.value};
}

}  // namespace strata
