#include "sim/importers/onnx/tensor_values.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/error.h"
#include "sim/graph/ops/limits.h"

namespace strata {
namespace {

using onnx::TensorProto;

// IEEE 754's binary16; its subnormals are 2^-24 apart.
float from_half(std::uint16_t bits) {
  const float sign = (bits & 0x8000) != 0 ? -1.0F : 1.0F;
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  if (exponent == 31) return fraction == 0 ? sign * INFINITY : NAN;
  return sign * std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
}

float from_bfloat(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

void check_count(std::int64_t found, std::int64_t wanted) {
  if (found == wanted) return;
  throw InputError(fmt::format("it has {} values; allowed: {}, as its dims say", found, wanted));
}

// The bytes of ONNX are little-endian, as are the machines that this runs on.
static_assert(std::endian::native == std::endian::little);

template <class T, class Convert>
auto from_bytes(std::string_view bytes, std::int64_t count, const Convert& convert) {
  const std::size_t wanted = static_cast<std::size_t>(count) * sizeof(T);
  if (bytes.size() != wanted) {
    throw InputError(fmt::format("it has {} bytes of values; allowed: {}, as its dims say",
                                 bytes.size(), wanted));
  }
  std::vector<std::invoke_result_t<Convert, T>> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = convert(value);
  }
  return values;
}

template <class T, class Field, class Convert>
auto from_field(const Field& field, std::int64_t count, const Convert& convert) {
  check_count(field.size(), count);
  std::vector<std::invoke_result_t<Convert, T>> values;
  values.reserve(static_cast<std::size_t>(count));
  for (const auto value : field) values.push_back(convert(static_cast<T>(value)));
  return values;
}

// Where a tensor's numbers are, and how one of them reads.
template <class T, class Field, class Convert>
auto read_values(const TensorProto& tensor, const std::string& folder, const Field& field,
                 const Convert& convert) {
  const std::int64_t count = element_count(dims_of(tensor));
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    const std::int64_t size = count * static_cast<std::int64_t>(sizeof(T));
    return from_bytes<T>(read_external_data(tensor, folder, size), count, convert);
  }
  if (tensor.has_raw_data()) return from_bytes<T>(tensor.raw_data(), count, convert);
  return from_field<T>(field, count, convert);
}

std::string type_name(const TensorProto& tensor) {
  const auto type = tensor.data_type();
  return TensorProto::DataType_IsValid(type)
             ? TensorProto::DataType_Name(static_cast<TensorProto::DataType>(type))
             : fmt::format("{}", type);
}

std::vector<float> any_floats(const TensorProto& tensor, const std::string& folder) {
  constexpr auto kNarrow = [](auto value) { return static_cast<float>(value); };
  switch (tensor.data_type()) {
    case TensorProto::FLOAT:
      return read_values<float>(tensor, folder, tensor.float_data(), kNarrow);
    case TensorProto::DOUBLE:
      return read_values<double>(tensor, folder, tensor.double_data(), kNarrow);
    case TensorProto::FLOAT16:
      return read_values<std::uint16_t>(tensor, folder, tensor.int32_data(), from_half);
    case TensorProto::BFLOAT16:
      return read_values<std::uint16_t>(tensor, folder, tensor.int32_data(), from_bfloat);
    default:
      throw InputError(fmt::format("its type is {}; allowed: FLOAT, DOUBLE, FLOAT16, BFLOAT16",
                                   type_name(tensor)));
  }
}

}  // namespace

TensorDims dims_of(const TensorProto& tensor) {
  return {tensor.dims().begin(), tensor.dims().end()};
}

std::string print_dims(const TensorDims& dims) {
  return fmt::format("({})", fmt::join(dims, ", "));
}

std::int64_t element_count(const TensorDims& dims) {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims)
    count = dim < 0 ? -1 : bounded_product(count, dim, kMaxElements);
  if (count >= 0) return count;
  throw InputError(
      fmt::format("its dims are {}; allowed: at most {} elements", print_dims(dims), kMaxElements));
}

bool has_values(const TensorProto& tensor) {
  return tensor.data_location() == TensorProto::EXTERNAL || tensor.has_raw_data() ||
         tensor.float_data_size() > 0 || tensor.double_data_size() > 0 ||
         tensor.int32_data_size() > 0 || tensor.int64_data_size() > 0;
}

std::vector<float> float_values(const TensorProto& tensor, const std::string& folder) {
  std::vector<float> values = any_floats(tensor, folder);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) continue;
    throw InputError(
        fmt::format("element {} is {}; allowed: finite numbers of float32", i, values[i]));
  }
  return values;
}

void take_integers(onnx::GraphProto& graph, const std::string& folder, std::int64_t most) {
  for (TensorProto& tensor : *graph.mutable_initializer()) {
    const std::int64_t bytes = tensor.data_type() == TensorProto::BOOL    ? 1
                               : tensor.data_type() == TensorProto::INT32 ? 4
                                                                          : 8;
    const bool may = holds_integers(tensor) || tensor.data_type() == TensorProto::BOOL;
    if (!may || tensor.data_location() != TensorProto::EXTERNAL) continue;
    try {
      const std::int64_t count = element_count(dims_of(tensor));
      if (count > most) continue;
      tensor.set_raw_data(read_external_data(tensor, folder, count * bytes));
      tensor.clear_data_location();
      tensor.clear_external_data();
    } catch (const InputError&) {  // what needs them says that they are missing
    }
  }
}

std::vector<double> any_values(const TensorProto& tensor, const std::string& folder) {
  const std::vector<float> values = any_floats(tensor, folder);
  return {values.begin(), values.end()};
}

std::vector<std::int64_t> integer_values(const TensorProto& tensor) {
  constexpr auto kWiden = [](auto value) { return static_cast<std::int64_t>(value); };
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    throw InputError("its integers stand in another file; allowed: in the model's own");
  }
  if (tensor.data_type() == TensorProto::INT64)
    return read_values<std::int64_t>(tensor, "", tensor.int64_data(), kWiden);
  if (tensor.data_type() == TensorProto::INT32)
    return read_values<std::int32_t>(tensor, "", tensor.int32_data(), kWiden);
  throw InputError(fmt::format("its type is {}; allowed: INT64, INT32", type_name(tensor)));
}

double scalar_value(const TensorProto& tensor) {
  check_count(element_count(dims_of(tensor)), 1);
  if (holds_integers(tensor)) return static_cast<double>(integer_values(tensor)[0]);
  if (tensor.data_location() == TensorProto::EXTERNAL)
    throw InputError("its value stands in another file; allowed: in the model's own");
  return static_cast<double>(any_floats(tensor, "")[0]);
}

bool holds_floats(const TensorProto& tensor) {
  const auto type = tensor.data_type();
  return type == TensorProto::FLOAT || type == TensorProto::DOUBLE ||
         type == TensorProto::FLOAT16 || type == TensorProto::BFLOAT16;
}

bool holds_integers(const TensorProto& tensor) {
  return tensor.data_type() == TensorProto::INT64 || tensor.data_type() == TensorProto::INT32;
}

}  // namespace strata
