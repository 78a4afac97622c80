#pragma once

// Numbers for dims that a network's file leaves open, such as the height of images of any size.
// Pure functions; thread-safe.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace strata {

/// By name.
using OpenDims = std::map<std::string, std::int64_t, std::less<>>;

/// "height=32,width=48"; "" of none.
std::string print_open_dims(const OpenDims& dims);

/// The reverse. Throws InputError for what is no NAME=NUMBER, for a number that is no extent, and
/// for a name that comes twice.
OpenDims parse_open_dims(std::string_view text);

}  // namespace strata
