#pragma once

// What every harness does with the bytes it is given: hand them to one parser, which must return or
// throw InputError. Anything else, a hang and a leak among them, is a finding.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/base/error.h"

namespace strata {

template <class Parse>
int fuzz(const std::uint8_t* data, std::size_t size, Parse parse) {
  try {
    parse(std::string_view(reinterpret_cast<const char*>(data), size));
  } catch (const InputError&) {
    // The one right answer to bad input.
  }
  return 0;
}

}  // namespace strata
