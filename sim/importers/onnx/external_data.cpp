#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/importers/onnx/names.h"
#include "sim/importers/onnx/tensor_values.h"

namespace strata {
namespace {

namespace fs = std::filesystem;

std::string entry(const onnx::TensorProto& tensor, std::string_view key) {
  for (const auto& pair : tensor.external_data()) {
    if (pair.key() == key) return pair.value();
  }
  return "";
}

// Not negative; `absent` where the model says nothing.
std::int64_t number(const onnx::TensorProto& tensor, std::string_view key, std::int64_t absent) {
  const std::string text = entry(tensor, key);
  if (text.empty()) return absent;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= 0) return value;
  throw InputError(fmt::format("the {} of its external data is '{}'; allowed: a number of bytes",
                               key, shown(text)));
}

[[noreturn]] void fail_outside(const std::string& location) {
  throw InputError(fmt::format("its values are in '{}'; allowed: a file in the model's folder",
                               shown(location)));
}

// Both without links, so that one that leads out shows.
fs::path inside(const std::string& location, const std::string& folder) {
  const fs::path path(location);
  const bool climbs = std::find(path.begin(), path.end(), "..") != path.end();
  const bool whole = location.find('\0') == std::string::npos;
  if (location.empty() || path.is_absolute() || climbs || !whole) fail_outside(location);
  std::error_code error;
  const fs::path root = fs::canonical(folder.empty() ? "." : folder, error);
  fs::path file = error ? fs::path() : fs::canonical(root / path, error);
  if (error) {
    throw InputError(
        fmt::format("its values in '{}' cannot be read: {}", shown(location), error.message()));
  }
  const auto end = std::mismatch(root.begin(), root.end(), file.begin(), file.end()).first;
  if (end != root.end() || !fs::is_regular_file(file, error)) fail_outside(location);
  return file;
}

}  // namespace

std::string read_external_data(const onnx::TensorProto& tensor, const std::string& folder,
                               std::int64_t size) {
  const std::string location = entry(tensor, "location");
  const fs::path path = inside(location, folder);
  const std::int64_t offset = number(tensor, "offset", 0);
  const std::int64_t length = number(tensor, "length", size);
  if (length != size) {
    throw InputError(
        fmt::format("its external data has {} bytes; allowed: {}, as its dims say", length, size));
  }
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::int64_t all = file ? static_cast<std::int64_t>(file.tellg()) : 0;
  if (offset > all || size > all - offset) {
    throw InputError(fmt::format("its {} bytes from {} on are not in '{}', which has {}", size,
                                 offset, shown(location), all));
  }
  std::string bytes(static_cast<std::size_t>(size), '\0');
  file.seekg(offset);
  if (!file.read(bytes.data(), size))
    throw InputError(fmt::format("its values in '{}' cannot be read", shown(location)));
  return bytes;
}

}  // namespace strata
