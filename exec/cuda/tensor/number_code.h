#pragma once

// The numbers of tokens in bf16, whose 8 bits of mantissa hold those up to 256 alone: each number
// is an element's bits, of those patterns that stand for finite values. Data that only embeddings
// read lie so where the seat says it (Seat::codes_numbers()).

#include <cmath>
#include <cstdint>

#include "exec/cuda/tensor/tensor.h"

namespace strata::cuda {

// Positive patterns are below 0x7F80, negative ones from 0x8000 on below 0xFF80.
inline constexpr std::int64_t kPositivePatterns = 0x7F80;
/// Numbers that have a code, from 0 on.
inline constexpr std::int64_t kCodedNumbers = 2 * kPositivePatterns;

/// A value that becomes the code of the number when it is rounded to bf16; of what has none, not a
/// number.
inline float code_of(double number) {
  const std::int64_t whole = std::llround(number);
  Bf16 code;
  const bool has_code = whole >= 0 && whole < kCodedNumbers;
  const std::int64_t gap = whole < kPositivePatterns ? 0 : 0x8000 - kPositivePatterns;
  code.bits = has_code ? static_cast<std::uint16_t>(whole + gap) : 0x7FFF;
  return static_cast<float>(code);
}

/// The number of a code; -1 of what is none.
STRATA_ANYWHERE inline std::int64_t number_of(Bf16 code) {
  const int sign = code.bits & 0x8000, magnitude = code.bits & 0x7FFF;
  if (magnitude >= kPositivePatterns) return -1;
  return sign == 0 ? magnitude : magnitude + kPositivePatterns;
}

}  // namespace strata::cuda
