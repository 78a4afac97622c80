#include "sim/importers/npy/npy.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/importers/npy/npy_header.h"
#include "sim/text/file.h"

namespace strata {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are copied as they are");

/// Nothing where it is beyond 2^63 - 1; an extent of 0 makes any shape empty.
std::optional<std::int64_t> element_count(std::span<const std::int64_t> shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (count > std::numeric_limits<std::int64_t>::max() / extent) return std::nullopt;
    count *= extent;
  }
  return count;
}

/// The bytes of the elements, of which there are as many as the shape says.
std::string_view elements(std::string_view bytes, const NpyHeader& header, std::size_t element,
                          const std::string& file) {
  if (header.fortran_order) {
    fail_npy(file, "it is in Fortran order; allowed: C order, as numpy.ascontiguousarray gives it");
  }
  const std::string_view data = bytes.substr(header.size);
  const auto count = element_count(header.shape);
  if (count && static_cast<std::size_t>(*count) == data.size() / element &&
      data.size() % element == 0) {
    return data;
  }
  fail_npy(file,
           fmt::format("{} of '{}' does not take the {} bytes that follow the header; allowed: a "
                       "complete file of one array",
                       shape_text(header.shape), header.descr, data.size()));
}

template <class Stored>
std::vector<Stored> load(std::string_view bytes, const NpyHeader& header, const std::string& file) {
  const std::string_view data = elements(bytes, header, sizeof(Stored), file);
  std::vector<Stored> values(data.size() / sizeof(Stored));
  if (!values.empty()) std::memcpy(values.data(), data.data(), data.size());
  return values;
}

template <class Value, class Stored>
std::vector<Value> widened(const std::vector<Stored>& stored) {
  return std::vector<Value>(stored.begin(), stored.end());
}

std::vector<float> narrowed(const std::vector<double>& stored, const std::string& file) {
  std::vector<float> values(stored.size());
  for (std::size_t i = 0; i < stored.size(); ++i) {
    if (std::isfinite(stored[i]) && std::abs(stored[i]) > std::numeric_limits<float>::max()) {
      fail_npy(file, fmt::format("element {} is {}; allowed: what a float32 holds, at most 3.4e38",
                                 i, stored[i]));
    }
    values[i] = static_cast<float>(stored[i]);
  }
  return values;
}

[[noreturn]] void refuse_type(const NpyHeader& header, std::string_view allowed,
                              const std::string& file) {
  fail_npy(file, fmt::format("its elements are '{}'; allowed: {}", header.descr, allowed));
}

template <class T>
std::string print(std::string_view descr, std::span<const std::int64_t> shape,
                  std::span<const T> values) {
  assert(element_count(shape) == static_cast<std::int64_t>(values.size()));
  std::string bytes = print_npy_header(descr, shape);
  if (values.empty()) return bytes;
  return bytes.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}

}  // namespace

NpyArray<float> parse_npy_floats(std::string_view bytes, const std::string& file) {
  NpyHeader header = parse_npy_header(bytes, file);
  std::vector<float> values;
  if (header.descr == "<f4") {
    values = load<float>(bytes, header, file);
  } else if (header.descr == "<f8") {
    values = narrowed(load<double>(bytes, header, file), file);
  } else if (header.descr == "|u1") {
    values = widened<float>(load<std::uint8_t>(bytes, header, file));
  } else {
    refuse_type(header, "'<f4', '<f8', '|u1' (numpy.float32, float64, uint8)", file);
  }
  return {std::move(header.shape), std::move(values)};
}

NpyArray<std::int64_t> parse_npy_integers(std::string_view bytes, const std::string& file) {
  NpyHeader header = parse_npy_header(bytes, file);
  std::vector<std::int64_t> values;
  if (header.descr == "<i8") {
    values = load<std::int64_t>(bytes, header, file);
  } else if (header.descr == "<i4") {
    values = widened<std::int64_t>(load<std::int32_t>(bytes, header, file));
  } else if (header.descr == "|u1") {
    values = widened<std::int64_t>(load<std::uint8_t>(bytes, header, file));
  } else {
    refuse_type(header, "'<i8', '<i4', '|u1' (numpy.int64, int32, uint8)", file);
  }
  return {std::move(header.shape), std::move(values)};
}

NpyArray<float> read_npy_floats(const std::string& file) {
  return parse_npy_floats(read_file(file), file);
}

NpyArray<std::int64_t> read_npy_integers(const std::string& file) {
  return parse_npy_integers(read_file(file), file);
}

std::string print_npy(std::span<const std::int64_t> shape, std::span<const float> values) {
  return print("<f4", shape, values);
}

std::string print_npy(std::span<const std::int64_t> shape, std::span<const std::int64_t> values) {
  return print("<i8", shape, values);
}

void write_npy(const std::string& file, std::span<const std::int64_t> shape,
               std::span<const float> values) {
  write_file_whole(file, print_npy(shape, values));
}

void write_npy(const std::string& file, std::span<const std::int64_t> shape,
               std::span<const std::int64_t> values) {
  write_file_whole(file, print_npy(shape, values));
}

}  // namespace strata
