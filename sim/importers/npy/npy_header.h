#pragma once

// The head of an .npy file (numpy.lib.format): the magic, a version, and a Python dict that names
// the elements' type and the extents. Pure functions; thread-safe.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

struct NpyHeader {
  std::string descr;  ///< as numpy writes it: "<f4"
  bool fortran_order = false;
  std::vector<std::int64_t> shape;  ///< at most 32 extents, none negative
  std::size_t size = 0;             ///< bytes of the head: where the elements begin

  bool operator==(const NpyHeader&) const = default;
};

/// Throws InputError "FILE: MESSAGE".
[[noreturn]] void fail_npy(const std::string& file, const std::string& message);

/// Versions 1.0, 2.0 and 3.0. Throws InputError "FILE: ..." for anything else than a dict of just
/// these keys, in any order, with a simple type.
NpyHeader parse_npy_header(std::string_view bytes, const std::string& file);

/// Version 1.0 in C order, padded to a multiple of 64 bytes as numpy does.
std::string print_npy_header(std::string_view descr, std::span<const std::int64_t> shape);

/// "2x3"; "a single element" for no extents.
std::string shape_text(std::span<const std::int64_t> shape);

}  // namespace strata
