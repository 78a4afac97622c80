#pragma once

// Tensors in .npy files, as numpy.save and numpy.load have them: numbers in C order, little-endian.
// Values and pure functions; thread-safe.
//
// Floats are read from '<f4', from '<f8' (each rounded to the nearest float32) and from '|u1'
// (images: 0 to 255); integers from '<i8', '<i4' and '|u1'. A conversion that would change a number
// beyond rounding is refused, and so are other types, Fortran order, and bytes that lack or follow.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

template <class T>
struct NpyArray {
  std::vector<std::int64_t> shape;  ///< none: a single element
  std::vector<T> values;            ///< the last dim varies fastest
  bool operator==(const NpyArray&) const = default;
};

/// Throw InputError "FILE: what is wrong; what is allowed".
NpyArray<float> parse_npy_floats(std::string_view bytes, const std::string& file);
NpyArray<std::int64_t> parse_npy_integers(std::string_view bytes, const std::string& file);

/// The same of a file of at most 4 GiB.
NpyArray<float> read_npy_floats(const std::string& file);
NpyArray<std::int64_t> read_npy_integers(const std::string& file);

/// '<f4' and '<i8'. The product of `shape` is the number of `values`.
std::string print_npy(std::span<const std::int64_t> shape, std::span<const float> values);
std::string print_npy(std::span<const std::int64_t> shape, std::span<const std::int64_t> values);

/// Whole or not at all. Throw EnvironmentError "FILE: cannot be written: REASON".
void write_npy(const std::string& file, std::span<const std::int64_t> shape,
               std::span<const float> values);
void write_npy(const std::string& file, std::span<const std::int64_t> shape,
               std::span<const std::int64_t> values);

}  // namespace strata
