#include "sim/graph/open_dims.h"

#include <charconv>
#include <system_error>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/graph/ops/limits.h"
#include "sim/text/split.h"

namespace strata {
namespace {

// A name may hold '=', a number does not.
void add_open_dim(OpenDims& dims, std::string_view item) {
  const std::size_t equals = item.rfind('=');
  const std::string_view name = item.substr(0, equals);
  if (equals == std::string_view::npos || name.empty()) {
    throw InputError(fmt::format("'{}' is no NAME=NUMBER; allowed: as height=32,width=48", item));
  }
  const std::string_view digits = item.substr(equals + 1);
  std::int64_t extent = 0;
  const auto [stop, error] = std::from_chars(digits.begin(), digits.end(), extent);
  if (error != std::errc() || stop != digits.end() || extent < 1 || extent > kMaxExtent) {
    throw InputError(
        fmt::format("{} is '{}'; allowed: an integer from 1 to {}", name, digits, kMaxExtent));
  }
  if (!dims.emplace(name, extent).second) {
    throw InputError(fmt::format("{} is given twice; allowed: one number for each name", name));
  }
}

}  // namespace

std::string print_open_dims(const OpenDims& dims) {
  std::string text;
  for (const auto& [name, extent] : dims) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, extent);
  }
  return text;
}

OpenDims parse_open_dims(std::string_view text) {
  OpenDims dims;
  for (const std::string_view item : split(text, ',')) add_open_dim(dims, item);
  return dims;
}

}  // namespace strata
